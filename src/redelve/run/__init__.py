"""Plan and run: experiments, jobs and records, workers, cells."""
