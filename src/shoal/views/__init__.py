"""Views of results: facts first, then text, pages and charts; nothing is measured here."""
