"""A plugin of pytest (`-p a_day_later`): everything is made a day later than it is."""

import time

_NOW = time.time

time.time = lambda: _NOW() + 86_400
