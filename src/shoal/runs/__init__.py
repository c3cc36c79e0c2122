"""What was asked, checked, rehearsed and done."""
