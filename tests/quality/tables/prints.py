"""Tables in PDFs of WeasyPrint, ReportLab and LibreOffice, and what their chunks must say."""

import subprocess

import books
import pages
from openpyxl.styles.borders import Border, Side

RULED = "<style>table { border-collapse: collapse } td, th { border: 1px solid black; padding: 3px }</style>"
STYLE = "<style>@page { size: A4; margin: 2cm } body { font: 10pt 'DejaVu Sans' } td, th { padding: 3px 9px; text-align: left }</style>"
row, long = pages.row, pages.long


def web(body, style=RULED, after=""):
    """A page that WeasyPrint prints, with a table."""
    def make(path):
        import weasyprint

        path = pages.page(body, before=STYLE + style, after=after)(path)
        weasyprint.HTML(filename=str(path)).write_pdf(path.with_suffix(".pdf"))
        return path.with_suffix(".pdf")
    return make


def report(rows, spans=(), is_ruled=True, repeated=0, before=()):
    """A report of ReportLab with a table; `spans` are (column, row, column, row)."""
    def make(path):
        from reportlab.lib import colors, pagesizes, styles
        from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

        path, body = path.with_suffix(".pdf"), styles.getSampleStyleSheet()
        looks = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if is_ruled else []
        looks += [("SPAN", (left, top), (right, bottom)) for left, top, right, bottom in spans]
        flow = [Paragraph("Register", body["Heading1"]),
                Paragraph("The harbour office keeps a register of all vessels that enter the inner basin.", body["BodyText"])]
        flow += [Paragraph(text, body["BodyText"]) for text in before]
        flow += [Spacer(1, 12), Table(rows, style=TableStyle(looks), repeatRows=repeated, hAlign="LEFT")]
        SimpleDocTemplate(str(path), pagesize=pagesizes.A4).build(flow)
        return path
    return make


def office(rows, merges=(), repeated=None, is_ruled=True):
    """A sheet that LibreOffice prints; `repeated` are rows at the head of each page, as in `1:1`."""
    def dress(sheet):
        sheet.print_title_rows = repeated
        line = Side("thin")
        for cell in (cell for row in sheet.iter_rows() for cell in row if is_ruled):
            cell.border = Border(line, line, line, line)
        for letter in "ABCDE":
            sheet.column_dimensions[letter].width = 12

    def make(path):
        path = books.book(rows, merges, dress)(path)
        subprocess.run(["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(path.parent), str(path)],
                       check=True, capture_output=True, timeout=300)
        return path.with_suffix(".pdf")
    return make


LABELS = [(["North", "cod"], ["Tons"], "12"), (["North", "hake"], ["Tons"], "15"), (["North", "eel"], ["Tons"], "7"),
          (["South", "cod"], ["Tons"], "3")]
MERGED = (row("Area", "Fish", "Tons", tag="th") + row("<td rowspan=3>North</td>", "cod", "12") + row("hake", "15") + row("eel", "7")
          + row("South", "cod", "3"))
FISH = [["Area", "Fish", "Tons"], ["North", "cod", "12"], ["", "hake", "15"], ["", "eel", "7"], ["South", "cod", "3"]]
COSTS = [(["Brest"], ["Direct costs", "Salaries"], "10"), (["Brest"], ["Direct costs", "Rope"], "20"),
         (["Brest"], ["Indirect costs", "Rent"], "30"), (["Hull"], ["Indirect costs", "Light"], "80")]
HEADS = [["Port", "Direct costs", "", "Indirect costs", ""], ["", "Salaries", "Rope", "Rent", "Light"],
         ["Brest", "10", "20", "30", "40"], ["Hull", "50", "60", "70", "80"]]
VESSELS = [[f"B{number}", f"Vessel {number}", f"{number * 10}"] for number in range(1, 120)]
BERTHS = [(["B1", "Vessel 1"], ["Tons"], "10"), (["B60", "Vessel 60"], ["Tons"], "600"), (["B119"], ["Vessel"], "Vessel 119")]

CASES = {
    "web-label": (web(MERGED), LABELS),
    "web-two-rows": (web(pages.TWO_ROWS + row("Brest", "10", "20", "30", "40") + row("Hull", "50", "60", "70", "80")), COSTS),
    "web-groups": (web(row("Fish", "Tons", "Price", tag="th") + row("<td colspan=3>Round fish</td>") + row("cod", "12", "3.10")
                       + row("<td colspan=3>Flat fish</td>") + row("sole", "4", "9.80")),
                   [(["cod"], ["Tons"], "12"), (["sole"], ["Price"], "9.80")]),
    "web-pages-once": (web(row("Berth", "Vessel", "Tons", tag="th") + "".join(row(*cells) for cells in VESSELS)), BERTHS),
    "web-pages-again": (web("<thead>" + row("Berth", "Vessel", "Tons", tag="th") + "</thead><tbody>" + "".join(row(*cells) for cells in VESSELS)
                            + "</tbody>"), BERTHS),
    "web-unruled": (web("<thead>" + row("Fluid", "Capacity", "Product", tag="th") + "</thead>" + row("Engine coolant", "18.6 quarts", "Premium Gold")
                        + row("Brake fluid", "Between MIN and MAX", "High performance") + row("Washer fluid", "Fill as required", "Windshield wash")
                        + row("Power steering", "As marked", "Automatic fluid"), style=""),
                    [(["Engine coolant"], ["Capacity"], "18.6 quarts"), (["Washer fluid"], ["Product"], "Windshield wash"),
                     (["Brake fluid"], ["Capacity"], "Between MIN and MAX")]),
    "web-block": (web(row("Lock", "Saturday", "Sunday", tag="th") + row("Brest", "<td colspan=2 rowspan=2>closed</td>") + row("Emden")
                      + row("Hull", "8-12", "9-11")),
                  [(["Hull"], ["Sunday"], "9-11"), (["Brest"], ["Saturday"], "closed"), (["Emden"], ["Saturday"], "closed")]),
    "web-wrapped": (web("<tr><th style='width: 25%'>Duty</th><th style='width: 45%'>Who</th><th>When</th></tr>"
                        + row("Watch", "The mate and one deckhand, or two deckhands while the ship lies at anchor in the bay", "22:00 to 06:00")
                        + row("Galley", "The cook, helped by whoever is off watch that day", "daily"), style=""),
                    [(["Watch", "The mate and one deckhand, or two deckhands while the ship lies at anchor in the bay"], ["When"], "22:00 to 06:00"),
                     (["Galley"], ["When"], "daily")]),
    "report-label": (report(FISH, [(0, 1, 0, 3)]), LABELS),
    "report-two-rows": (report(HEADS, [(0, 0, 0, 1), (1, 0, 2, 0), (3, 0, 4, 0)]), COSTS),
    "report-pages-once": (report([["Berth", "Vessel", "Tons"]] + VESSELS), BERTHS),
    "report-pages-again": (report([["Berth", "Vessel", "Tons"]] + VESSELS, repeated=1), BERTHS),
    "report-unruled-pages": (report([["Berth", "Vessel", "Tons"]] + VESSELS, is_ruled=False), BERTHS),
    "report-two-tables": (report([["Berth", "Vessel", "Tons"], ["B1", "Elbe", "95"], ["B2", "Weser", "140"], ["", "", ""],
                                  ["Berth", "Fee", "Until"], ["B1", "12.50", "May"], ["B2", "9.80", "June"]], is_ruled=False),
                          [(["B2", "Weser"], ["Tons"], "140")]),
    "report-preamble": (report([["Date", "Text", "Amount"], ["2025-03-01", "Berth fee", "-120.00"], ["2025-03-02", "Fuel", "-85.50"],
                                ["2025-03-04", "Landing", "990.00"]], before=["Account: DE00 1234", "Owner: Harbour office"], is_ruled=False),
                        [(["2025-03-02", "Fuel"], ["Amount"], "-85.50"), (["2025-03-04"], ["Text"], "Landing")]),
    "office-label": (office(FISH, ["A2:A4"]), LABELS),
    "office-two-rows": (office(HEADS, ["A1:A2", "B1:C1", "D1:E1"]), COSTS),
    "office-pages-again": (office([["Berth", "Vessel", "Tons"]] + VESSELS, repeated="1:1"), BERTHS),
    "office-pages-once": (office([["Berth", "Vessel", "Tons"]] + VESSELS, is_ruled=False), BERTHS),
    "office-groups": (office([["Fish", "Tons", "Price"], ["Round fish", "", ""], ["cod", "12", "3.10"], ["Flat fish", "", ""], ["sole", "4", "9.80"]],
                             ["A2:C2", "A4:C4"]),
                      [(["cod"], ["Tons"], "12"), (["sole"], ["Price"], "9.80")]),
}
