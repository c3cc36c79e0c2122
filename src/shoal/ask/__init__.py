"""What was asked: one dataclass, from whose fields every form of it is made."""
