"""What readers see of results: tables, figures, and the self-contained HTML page."""
