"""From what an agent said to what may be stored: cleaned, redacted, cut to size."""
