"""Spreadsheets with tables, and what their chunks must say."""

import openpyxl


def book(rows, merges=(), changes=None):
    def make(path):
        path = path.with_suffix(".xlsx")
        workbook = openpyxl.Workbook()
        sheet = workbook.active
        sheet.title = "Register"
        for row in rows:
            sheet.append([None if cell == "" else cell for cell in row])
        for merge in merges:
            sheet.merge_cells(merge)
        if changes:
            changes(sheet)
        workbook.save(path)
        return path
    return make


def filtered(sheet):
    sheet.auto_filter.ref = "A2:C5"


def merge_all(sheet):
    # `merge_cells` would make each cell.
    sheet.merged_cells.add("A1:XFD1048576")


CASES = {
    "label": (book([["Area", "Fish", "Tons"], ["North", "cod", 12], ["", "hake", 15], ["South", "cod", 3]], ["A2:A3"]),
              [(["North", "cod"], ["Tons"], "12"), (["North", "hake"], ["Tons"], "15"), (["South", "cod"], ["Tons"], "3")]),
    "two-rows": (book([["Port", "Direct costs", "", "Indirect costs", ""], ["", "Salaries", "Rope", "Rent", "Light"], ["Brest", 10, 20, 30, 40],
                       ["Emden", 11, 21, 31, 41]], ["A1:A2", "B1:C1", "D1:E1"]),
                 [(["Brest"], ["Direct costs: Salaries"], "10"), (["Emden"], ["Direct costs: Rope"], "21"), (["Emden"], ["Indirect costs: Light"], "41"),
                  ([], ["Port"], "Brest")]),
    "preamble": (book([["Device", "Gauge 7"], ["Serial", 12345], ["Place", "Pier 4"], ["Time", "Level", "Wind", "State"]]
                      + [[f"2026-05-{1 + number % 28:02} {number // 28:02}:00", number + 0.5, number + 200, "ok"] for number in range(120)]),
                 ["Device: Gauge 7", "Serial: 12345", (["2026-05-01 00:00"], ["Level"], "0.5"), (["2026-05-08 04:00"], ["Wind"], "319")]),
    "no-head": (book([[f"Buoy {number}", number + 0.5, number * 3 + 1000] for number in range(150)]),
                [(["Buoy 0"], [], "0.5"), (["Buoy 149"], [], "1447"), "|  |  |  |"]),
    "title": (book([["Landings of 2025", "", ""], ["Port", "Fish", "Tons"], ["Brest", "cod", 12], ["Emden", "eel", 8]], ["A1:C1"]),
              ["Landings of 2025", (["Brest", "cod"], ["Tons"], "12"), (["Emden"], ["Fish"], "eel")]),
    "whole-sheet": (book([["Nothing to report"]], changes=merge_all), ["Nothing to report"]),
    "wide": (book([["Station"] + [f"Reading at gauge {number}" for number in range(60)]]
                  + [[f"Pier {line}"] + [line * 100 + number + 0.5 for number in range(60)] for line in range(5)]),
             [(["Pier 0"], ["Reading at gauge 0"], "0.5"), (["Pier 4"], ["Reading at gauge 59"], "459.5"), (["Pier 2"], ["Reading at gauge 31"], "231.5")]),
    "filter": (book([["made by the office", "for", "2025"], ["Name", "Home", "Yard"], ["Elbe", "Hamburg", "Sietas"], ["Ems", "Emden", "Meyer"],
                     ["Jade", "Varel", "Lühring"]], changes=filtered),
               [(["Elbe"], ["Home"], "Hamburg"), (["Jade"], ["Yard"], "Lühring")]),
    "number-once": (book([["Port", "Fish", "Tons", "Boats"], ["Brest", "cod", 12, 17], ["", "hake", 15, ""], ["Emden", "eel", 3, 2]], ["A2:A3", "D2:D3"]),
                    [(["Brest", "cod", "12"], ["Boats"], "17"), "| Brest | hake | 15 |  |", (["Emden", "eel"], ["Boats"], "2")]),
    "group-rows": (book([["Fish", "Tons", "Price"], ["Round fish", "", ""], ["cod", 12, 3.25], ["Flat fish", "", ""], ["sole", 4, 9.75]],
                        ["A2:C2", "A4:C4"]),
                   [(["cod"], ["Tons"], "12"), (["sole"], ["Price"], "9.75"), ([], ["Fish"], "sole")]),
}
