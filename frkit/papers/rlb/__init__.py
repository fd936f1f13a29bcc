"""RLB: how much an embedding reveals about an attribute (Li & Abd-Almageed 2021)."""
