// Leads to the language that was chosen last, else to the browser's; `#choose` keeps the page.
const doors = [...document.querySelectorAll("[data-language]")];
const remember = (language) => {
  try {
    localStorage.setItem("d2lmini-language", JSON.stringify(language));
  } catch {
    // not remembered, then
  }
};
const remembered = () => {
  try {
    return JSON.parse(localStorage.getItem("d2lmini-language"));
  } catch {
    return null;
  }
};
for (const door of doors) door.addEventListener("click", () => remember(door.dataset.language));
if (location.hash !== "#choose") {
  const wanted = [remembered(), ...navigator.languages.map((tag) => tag.split("-")[0])];
  const language = wanted.find((code) => doors.some((door) => door.dataset.language === code));
  if (language) location.replace(doors.find((door) => door.dataset.language === language).href);
}
