"""Documents of Word with tables, and what their chunks must say."""

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn


def letter(rows, merges=(), num_heads=0, changes=None):
    """`merges` are (row, column, row, column) of the corners."""
    def make(path):
        path = path.with_suffix(".docx")
        document = docx.Document()
        document.add_heading("Register", 1)
        document.add_paragraph("The harbour office keeps a register of all vessels that enter the inner basin.")
        table = document.add_table(len(rows), max(map(len, rows)))
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                if text:
                    table.cell(number, column).text = text
        for top, left, bottom, right in merges:
            table.cell(top, left).merge(table.cell(bottom, right))
        for row in table.rows[:num_heads]:
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        if changes:
            changes(table)
        document.save(path)
        return path
    return make


def shift(table):
    """Begins the last row a column further to the right."""
    row = table.rows[-1]._tr
    before = OxmlElement("w:gridBefore")
    before.set(qn("w:val"), "1")
    row.get_or_add_trPr().append(before)
    row.remove(row.tc_lst[0])


CASES = {
    "label": (letter([["Area", "Fish", "Tons"], ["North", "cod", "12"], ["", "hake", "15"], ["South", "cod", "3"]], [(1, 0, 2, 0)]),
              [(["North", "cod"], ["Tons"], "12"), (["North", "hake"], ["Tons"], "15"), (["South", "cod"], ["Tons"], "3")]),
    "two-rows": (letter([["Region", "Sales 2025", ""], ["", "Q1", "Q2"], ["North", "10", "20"], ["South", "30", "40"]], [(0, 0, 1, 0), (0, 1, 0, 2)]),
                 [(["North"], ["Sales 2025: Q1"], "10"), (["South"], ["Sales 2025: Q2"], "40"), ([], ["Region"], "South")]),
    "declared": (letter([["Port", "Ships"], ["", "in the year"]] + [[f"Port {number}", f"{number + 100}"] for number in range(150)], [(0, 0, 1, 0)], 2),
                 [(["Port 0"], ["Ships in the year"], "100"), (["Port 149"], ["Ships in the year"], "249")]),
    "no-head": (letter([[f"Buoy {number}", f"{number}.5"] for number in range(200)]),
                [(["Buoy 0"], [], "0.5"), (["Buoy 199"], [], "199.5"), "|  |  |"]),
    "before": (letter([["Port", "Fish", "Tons"], ["Brest", "cod", "12"], ["", "hake", "15"]], changes=shift),
               [(["hake"], ["Tons"], "15"), ([], ["Fish"], "hake")]),
    "groups": (letter([["Fish", "Tons", "Price"], ["Round fish", "", ""], ["cod", "12", "3.10"], ["Flat fish", "", ""], ["sole", "4", "9.80"]],
                      [(1, 0, 1, 2), (3, 0, 3, 2)], 1),
               [(["cod"], ["Tons"], "12"), (["sole"], ["Price"], "9.80")]),
    "title-inside": (letter([["Landings of 2025", "", ""], ["Port", "Fish", "Tons"], ["Brest", "cod", "12"], ["Emden", "eel", "8"]], [(0, 0, 0, 2)]),
                     ["Landings of 2025", (["Brest", "cod"], ["Tons"], "12"), ([], ["Port"], "Emden")]),
    "number-once": (letter([["Port", "Fish", "Tons", "Boats"], ["Brest", "cod", "12", "17"], ["", "hake", "15", ""], ["Emden", "eel", "3", "2"]],
                           [(1, 0, 2, 0), (1, 3, 2, 3)], 1),
                    [(["Brest", "cod", "12"], ["Boats"], "17"), "| Brest | hake | 15 |  |"]),
    "block": (letter([["Lock", "Saturday", "Sunday", "Fee"], ["Brest", "closed", "", "3"], ["Emden", "", "", "2"], ["Hull", "8-12", "9-11", "1"]],
                     [(1, 1, 2, 2)], 1),
              [(["Brest"], ["Saturday"], "closed"), (["Emden"], ["Saturday"], "closed"), (["Emden"], ["Fee"], "2"), (["Hull"], ["Sunday"], "9-11")]),
    "long-label": (letter([["Area", "Fish", "Tons"]] + [["Northern shelf" if number == 0 else "", f"kind {number}", f"{number + 500}"] for number in range(100)],
                          [(1, 0, 100, 0)], 1),
                   [(["Northern shelf", "kind 0"], ["Tons"], "500"), (["Northern shelf", "kind 99"], ["Tons"], "599")]),
}
