"""What the doctor looks at: files, socket, database, machine, unit. Each finding says how to mend it."""
