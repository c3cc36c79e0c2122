"""Charts as inline SVG: Vega-Lite specifications drawn without a browser or a network."""
