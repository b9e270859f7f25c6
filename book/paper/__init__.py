"""The course as one printed document a language: what a browser needs to lay it out and to print it.

`exercises` puts exercises on paper, `formulas` names what is seen of a formula, `fonts` makes the Chinese
face, `document` puts the printed edition together with the built pages. `python3 course.py pdf`
(`tools/paper/pdf.py`) prints it.
"""
