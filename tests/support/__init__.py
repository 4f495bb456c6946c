"""What several kinds of tests share: the daemon as a process, a faulty network, waiting on conditions."""
