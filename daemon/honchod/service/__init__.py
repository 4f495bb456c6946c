"""The process: settings, composition root, signals, systemd, logs."""
