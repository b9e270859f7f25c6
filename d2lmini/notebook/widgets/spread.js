/** Move places, [x, y] in pixels, until each two have `room` between them, side by side or one above the other. */
export function spread(places, room) {
  places.forEach((one, i) => places.slice(i + 1).forEach((other) => {
    const far = [0, 1].map((axis) => other[axis] - one[axis]);
    const axis = Math.abs(far[0]) > Math.abs(far[1]) ? 0 : 1;
    const missing = Math.max(0, room - Math.abs(far[axis])) * (far[axis] < 0 ? -1 : 1);
    one[axis] -= missing / 2;
    other[axis] += missing / 2;
  }));
  return places;
}
