package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"confab/app/datadir"
	"confab/jobs"
	"confab/storage"
)

// jobView is a job as the console shows it, with what only an operator may see.
type jobView struct {
	ID     int64  `json:"id"`
	Object string `json:"object"`
	storage.Job
	Lane        *string      `json:"lane"`
	Args        storage.JSON `json:"args"`
	LeasedUntil storage.Time `json:"leased_until"`
}

func viewJob(j storage.Job) jobView {
	return jobView{ID: j.ID, Object: "job", Job: j, Lane: storage.OrNil(j.Lane), Args: j.Args, LeasedUntil: j.LeasedUntil}
}

func (e *env) jobsList() *cobra.Command {
	filter := storage.JobFilter{Limit: listLimit}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List waiting, running and failed jobs, oldest first",
		Example: "  confab jobs list\n  confab jobs list --state failed --json",
	}

	parsedFlag(cmd, &filter.Kind, "kind", "only this `kind`", parseText)
	parsedFlag(cmd, &filter.State, "state", "only in this state: `due|held|running|failed`",
		parseChoice(storage.JobDue, storage.JobHeld, storage.JobRunning, storage.JobFailed))
	limitFlag(cmd, &filter.Limit)

	columns := table[storage.Job]{
		heading: []string{"ID", "KIND", "STATE", "LANE", "DUE", "RUNS", "FAILURES", "LAST ERROR"},
		row: func(j storage.Job) []string {
			return []string{strconv.FormatInt(j.ID, 10), j.Kind, j.State, j.Lane, j.DueAt.String(),
				strconv.Itoa(j.Runs), strconv.Itoa(j.Failures), storage.OrEmpty(j.LastError)}
		},
		view: func(j storage.Job) any { return viewJob(j) },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) ([]storage.Job, error) { return rx.Jobs(filter) })
}

func (e *env) jobsShow() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:     "show ID",
		Short:   "Show one job",
		Example: "  confab jobs show 42\n  confab jobs show 42 --json",
		RunE: e.withJob(func(cmd *cobra.Command, id int64, s *store) error {
			j, err := storage.Query(cmd.Context(), s.DB, func(rx *storage.Rx) (storage.Job, error) { return rx.Job(id) })
			if err != nil {
				return err
			}

			return printOne(cmd, viewJob(j), [][]string{
				{"id", strconv.FormatInt(j.ID, 10)},
				{"kind", j.Kind},
				{"state", j.State},
				{"lane", j.Lane},
				{"args", string(j.Args)},
				{"runs", strconv.Itoa(j.Runs)},
				{"failures", strconv.Itoa(j.Failures)},
				{"last error", storage.OrEmpty(j.LastError)},
				{"due", j.DueAt.String()},
				{"leased until", j.LeasedUntil.String()},
				{"created", j.CreatedAt.String()},
			})
		}),
	})
}

func (e *env) jobsRetry() *cobra.Command {
	return &cobra.Command{
		Use:     "retry ID",
		Short:   "Run a failed or waiting job now",
		Example: "  confab jobs retry 42",
		RunE: e.withJob(func(cmd *cobra.Command, id int64, s *store) error {
			return s.change(cmd.Context(), func(tx *storage.Tx) error {
				j, err := tx.RetryJobNow(id)

				switch {
				case err != nil:
					return err
				case j.State == storage.JobRunning:
					return fmt.Errorf("job %d is running; wait until it ends, or cancel it", id)
				case j.State == storage.JobHeld:
					return fmt.Errorf("job %d is held: it starts automatically when its lane %s has room", id, j.Lane)
				}
				return nil
			})
		}),
	}
}

func (e *env) jobsCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "Delete a job permanently; a running one is interrupted",
		Long: "Delete a job permanently; a running one is interrupted. Anything that depends on it ends as if the job had\n" +
			"failed for the last time: a message fails, a delivery is dead and can be replayed, the event of a received\n" +
			"message is sent without its file. Anything already sent to the provider or an endpoint is not undone.",
		Example: "  confab jobs cancel 42",
		RunE: e.withJob(func(cmd *cobra.Command, id int64, s *store) error {
			// The transaction removes the job; the command interrupts a running one.
			command := datadir.CancelJob(id)
			workers := jobs.New(jobs.Options{DB: s.DB})
			return s.changeAndNotify(cmd.Context(), command, func(tx *storage.Tx) error { return workers.Cancel(tx, id) })
		}),
	}
}

// withJob makes the RunE of a command whose argument is a job's id.
func (e *env) withJob(f func(cmd *cobra.Command, id int64, s *store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return usage("ID %q must be a job number", args[0])
		}

		err = e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error { return f(cmd, id, s) })(cmd, args)
		return notFound(err, "job", id)
	}
}
