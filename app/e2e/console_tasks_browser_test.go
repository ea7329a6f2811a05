package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
)

// task is what a page did at a stretch, while it could not answer to anybody.
type task struct {
	CPU   float64 // milliseconds of the processor: those of the clock depend on who else is at work
	Parts string  // what took most of them
}

func (t task) String() string { return fmt.Sprintf("%.0f ms (%s)", t.CPU, t.Parts) }

// traced is an event of the browser's trace, with times in microseconds.
type traced struct {
	Name, Ph   string
	Pid, Tid   int
	Ts, Dur    float64
	ThreadTime float64 `json:"tdur"`
	Args       struct{ Name string }
}

// recordTasks records what the pages of the browser do, until the function that it returns
// is called: that lists the tasks, the longest first. A browser records once at a time, so
// that it is for a window in a browser of its own.
func recordTasks(b *window) func() []task {
	var mu sync.Mutex
	var events []traced
	done := make(chan struct{})
	follow(b, tracing.DataCollected, func(e tracing.EventDataCollected) {
		mu.Lock()
		defer mu.Unlock()
		for _, value := range e.Value {
			var one traced
			if json.Unmarshal([]byte(value), &one) == nil {
				events = append(events, one)
			}
		}
	})
	follow(b, tracing.TracingComplete, func(tracing.EventTracingComplete) { close(done) })
	b.Do(command(tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "v8"},
		ExcludedCategories: []string{"*"},
	}}))

	return func() []task {
		b.Do(command(tracing.End, cdp.Empty{}))
		<-done
		mu.Lock()
		defer mu.Unlock()
		return tasksOf(events)
	}
}

// tasksOf finds the tasks of pages in a trace.
func tasksOf(events []traced) (tasks []task) {
	type thread struct{ process, id int }
	pages := make(map[thread]bool)
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			pages[thread{e.Pid, e.Tid}] = true
		}
	}

	for _, e := range events {
		if !pages[thread{e.Pid, e.Tid}] || !strings.HasSuffix(e.Name, "RunTask") {
			continue
		}
		spent := make(map[string]float64)
		for _, part := range events {
			same := part.Pid == e.Pid && part.Tid == e.Tid && part.Ph == "X" && part.Name != e.Name
			if same && part.Ts >= e.Ts && part.Ts+part.Dur <= e.Ts+e.Dur {
				spent[part.Name] += part.ThreadTime / 1000
			}
		}
		tasks = append(tasks, task{CPU: e.ThreadTime / 1000, Parts: describeTask(spent)})
	}
	slices.SortFunc(tasks, func(a, b task) int { return cmp.Compare(b.CPU, a.CPU) })
	return tasks
}

// describeTask names what took more than a millisecond; parts may lie within others.
func describeTask(spent map[string]float64) string {
	var parts []string
	for name, ms := range spent {
		if ms > 1 {
			parts = append(parts, fmt.Sprintf("%s %.0f", name, ms))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
