"""Web pages with tables, and what their chunks must say."""


def page(body, before="", after=""):
    def make(path):
        path = path.with_suffix(".html")
        prose = "<p>The harbour office keeps a register of all vessels that enter the inner basin.</p>"
        path.write_text(f"<!DOCTYPE html><html><head><meta charset=utf-8><title>Register</title></head><body><main><h1>Register</h1>"
                        f"{prose}{before}<table>{body}</table>{after}</main></body></html>", encoding="utf-8")
        return path
    return make


def row(*cells, tag="td"):
    return "<tr>" + "".join(cell if cell.startswith("<") else f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def long(num_rows, of_row):
    return "".join(of_row(number) for number in range(num_rows))


TWO_ROWS = ("<thead>" + row("<th rowspan=2>Port</th>", "<th colspan=2>Direct costs</th>", "<th colspan=2>Indirect costs</th>")
            + row("Salaries", "Rope", "Rent", "Light", tag="th") + "</thead>")

CASES = {
    "label": (page(row("Area", "Fish", "Tons", tag="th") + row("<td rowspan=3>North</td>", "cod", "12") + row("hake", "15")
                   + row("eel", "7") + row("South", "cod", "3")),
              [(["North", "cod"], ["Tons"], "12"), (["North", "hake"], ["Tons"], "15"), (["North", "eel"], ["Tons"], "7"),
               (["South", "cod"], ["Tons"], "3")]),
    "two-rows": (page(TWO_ROWS + "<tbody>" + row("Brest", "10", "20", "30", "40") + "</tbody>"),
                 [(["Brest"], ["Direct costs: Salaries"], "10"), (["Brest"], ["Direct costs: Rope"], "20"),
                  (["Brest"], ["Indirect costs: Rent"], "30"), (["Brest"], ["Indirect costs: Light"], "40"), ([], ["Port"], "Brest")]),
    "three-rows": (page(row("<th rowspan=3>Port</th>", "<th colspan=4>Ships</th>") + row("<th colspan=2>Sail</th>", "<th colspan=2>Motor</th>")
                        + row("in", "out", "in", "out", tag="th") + row("Emden", "1", "2", "3", "4") + row("Hull", "5", "6", "7", "8")),
                   [(["Emden"], ["Ships", "Sail", "in"], "1"), (["Emden"], ["Ships", "Motor", "out"], "4"), (["Hull"], ["Ships", "Motor", "in"], "7")]),
    "to-the-end": (page("<thead>" + row("Line", "Ship", "Cars", tag="th") + "</thead><tbody>" + row("<td rowspan=0>Red</td>", "Elbe", "95")
                        + row("Weser", "140") + "</tbody><tbody>" + row("Blue", "Ems", "58") + "</tbody>"),
                   [(["Red", "Elbe"], ["Cars"], "95"), (["Red", "Weser"], ["Cars"], "140"), (["Blue", "Ems"], ["Cars"], "58")]),
    "beyond-its-group": (page("<thead>" + row("Line", "Ship", "Cars", tag="th") + "</thead><tbody>" + row("<td rowspan=9>Red</td>", "Elbe", "95")
                              + "</tbody><tbody>" + row("Blue", "Ems", "58") + "</tbody>"),
                         [(["Red", "Elbe"], ["Cars"], "95"), (["Blue"], ["Ship"], "Ems"), (["Blue", "Ems"], ["Cars"], "58")]),
    "groups": (page(row("Fish", "Tons", "Price", tag="th") + row("<td colspan=3>Round fish</td>") + row("cod", "12", "3.10")
                    + row("<td colspan=3>Flat fish</td>") + row("sole", "4", "9.80")),
               [(["cod"], ["Tons"], "12"), (["sole"], ["Price"], "9.80"), ([], ["Fish"], "sole")]),
    "title-inside": (page(row("<th colspan=3>Landings of 2025</th>") + row("Port", "Fish", "Tons", tag="th") + row("Brest", "cod", "12")
                          + row("Emden", "hake", "8")),
                     ["Landings of 2025", (["Brest", "cod"], ["Tons"], "12"), ([], ["Port"], "Emden")]),
    "heads-of-rows": (page("<tr><th colspan=2>Hamnavoe</th></tr>" + "".join(
        f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in (("Built", "2002"), ("Length", "112 m"), ("Yard", "Rauma")))),
                      ["Hamnavoe", (["Length"], [], "112 m"), (["Built"], [], "2002"), "-| Built | 2002 |\n| --- | --- |"]),
    "no-head": (page(long(120, lambda number: row(f"2025-{1 + number // 28:02}-{1 + number % 28:02}", f"Buoy {number}", f"{number}.5"))),
                [(["Buoy 0"], [], "0.5"), (["Buoy 119"], [], "119.5"), "|  |  |  |"]),
    "number-once": (page(row("Port", "Fish", "Tons", "Boats", tag="th") + row("<td rowspan=2>Brest</td>", "cod", "12", "<td rowspan=2>17</td>")
                         + row("hake", "15") + row("Emden", "eel", "3", "2")),
                    [(["Brest", "cod", "12"], ["Boats"], "17"), "| Brest | hake | 15 |  |", (["Emden", "eel"], ["Boats"], "2")]),
    "nested-labels": (page(row("Year", "Quarter", "Port", "Tons", tag="th") + row("<td rowspan=4>2024</td>", "<td rowspan=2>Q1</td>", "Brest", "1")
                           + row("Emden", "2") + row("<td rowspan=2>Q2</td>", "Brest", "3") + row("Emden", "4")),
                      [(["2024", "Q1", "Emden"], ["Tons"], "2"), (["2024", "Q2", "Brest"], ["Tons"], "3"), (["2024", "Q2"], ["Port"], "Emden")]),
    "middle": (page(row("Ship", "Owner", "Cars", tag="th") + row("Elbe", "<td rowspan=2>Red Line</td>", "95") + row("Weser", "140")
                    + row("Ems", "Blue Line", "58")),
               [(["Weser", "Red Line"], ["Cars"], "140"), (["Weser"], ["Owner"], "Red Line"), (["Ems", "Blue Line"], ["Cars"], "58")]),
    "spacers": (page(row("<td></td>", "<td></td>", "<td colspan=3>2025</td>", "<td></td>", "<td colspan=3>2024</td>")
                     + row("Revenue", "<td></td>", "$", "1,234", "<td></td>", "<td></td>", "$", "1,100", "<td></td>")
                     + row("Costs", "<td></td>", "<td></td>", "(934", ")", "<td></td>", "<td></td>", "(900", ")")),
                [(["Revenue"], ["2025"], "1,234"), (["Revenue"], ["2024"], "1,100"), (["Costs"], ["2024"], "(900")]),
    "total": (page("<thead>" + row("Port", "Fish", "Tons", tag="th") + "</thead><tbody>" + row("Brest", "cod", "12") + row("Emden", "eel", "3")
                   + "</tbody><tfoot>" + row("<td colspan=2>All ports</td>", "15") + "</tfoot>"),
              [(["All ports"], ["Tons"], "15"), (["Brest", "cod"], ["Tons"], "12"), ([], ["Port"], "All ports")]),
    "long-two-rows": (page(TWO_ROWS + "<tbody>" + long(90, lambda number: row(f"Port {number}", f"{number}1", f"{number}2", f"{number}3", f"{number}4"))
                           + "</tbody>"),
                      [(["Port 88"], ["Direct costs: Rope"], "882"), (["Port 89"], ["Indirect costs: Light"], "894")]),
    "long-label": (page(row("Area", "Fish", "Tons", tag="th") + row("<td rowspan=100>Northern shelf</td>", "kind 0", "500")
                        + long(99, lambda number: row(f"kind {number + 1}", f"{number + 501}"))),
                   [(["Northern shelf", "kind 0"], ["Tons"], "500"), (["Northern shelf", "kind 99"], ["Tons"], "599")]),
    "millions": (page(row("<td rowspan=65534 colspan=1000>Everything</td>", "first", "1") + long(3000, lambda number: row(f"next {number}", "2"))),
                 [(["Everything"], [], "first"), ([], [], "next 2999")]),
    "group-heads": (page(row("Area", "Fish", "2024", "2025", tag="th") + row("<th rowspan=2 scope=rowgroup>North</th>", "<th scope=row>cod</th>", "1", "2")
                         + row("<th scope=row>hake</th>", "3", "4") + row("<th rowspan=2 scope=rowgroup>South</th>", "<th scope=row>cod</th>", "5", "6")
                         + row("<th scope=row>hake</th>", "7", "8")),
                    [(["North", "hake"], ["2025"], "4"), (["South", "hake"], ["2024"], "7"), (["South", "cod"], ["2025"], "6")]),
    "over-columns": (page(row("Lock", "Saturday", "Sunday", "Fee", tag="th") + row("Brest", "<td colspan=2>closed</td>", "3") + row("Emden", "8-12", "9-11", "2")),
                     [(["Brest"], ["Saturday"], "closed"), (["Brest"], ["Sunday"], "closed"), (["Brest"], ["Fee"], "3"), (["Emden"], ["Sunday"], "9-11")]),
    "wide": (page(row("Station", *[f"Reading at gauge {number}" for number in range(60)], tag="th")
                  + long(4, lambda line: row(f"Pier {line}", *[f"{line}{number:02}.5" for number in range(60)]))),
             [(["Pier 0"], ["Reading at gauge 0"], "000.5"), (["Pier 3"], ["Reading at gauge 59"], "359.5"), (["Pier 2"], ["Reading at gauge 31"], "231.5")]),
}
