"""Small tables that come with Shoal."""
