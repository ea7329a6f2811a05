package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"confab/app/datadir"
	"confab/jobs/queue"
)

// lookEvery is how often the simulator is asked for what is expected.
const lookEvery = 50 * time.Millisecond

func (e *env) sandboxPlay() *cobra.Command {
	return &cobra.Command{
		Use:   "play FILE",
		Short: "Play a story against the running sandbox",
		Long: "Play a story against the running sandbox of the data directory (default " + defaultSandboxDir + "): a file of JSON\n" +
			"lines, - for standard input, or the name of one that comes with confab (" + strings.Join(storyNames(), ", ") + ").\n\n" +
			"A line is a step, such as {\"do\": \"inbound\", \"with\": {…}}, whose with is the body of that /_sim call; or an\n" +
			"expectation, such as {\"expect\": {\"event\": {…}}, \"within\": \"5s\"}, which waits for an event, a call to the\n" +
			"provider or a message. 'confab help pipelines' explains stories. If an expectation is not met, the exit status\n" +
			"is 1, and what came instead is printed.",
		Example: "  confab sandbox play first-contact\n  confab sandbox play story.jsonl --data-dir ./my-sandbox",
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			story, err := readStory(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			s, err := e.findSandbox(cmd)
			if err != nil {
				return err
			}

			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			p, err := openPlayer(ctx, s, story)
			if err == nil {
				err = p.play(ctx)
			}
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: all %d lines held\n", args[0], len(story))
			}
			return err
		}),
	}
}

// findSandbox finds the sandbox of the data directory or, inside of 'sandbox exec', that one.
func (e *env) findSandbox(cmd *cobra.Command) (*sandboxState, error) {
	s := &sandboxState{BaseURL: os.Getenv(baseURLVariable), APIKey: os.Getenv(apiKeyVariable)}
	s.SimulatorURL, s.ControlToken = os.Getenv(simulatorURLVariable), os.Getenv(controlTokenVariable)
	if s.BaseURL != "" && s.APIKey != "" && s.SimulatorURL != "" && !cmd.Flags().Changed("data-dir") {
		return s, nil
	}
	return s, e.readSandboxFile(cmd, s)
}

// readSandboxFile reads what the sandbox of the data directory has written.
func (e *env) readSandboxFile(cmd *cobra.Command, s *sandboxState) error {
	c, err := e.sandboxSettings(cmd)
	if err != nil {
		return err
	}
	found, err := readStateFile(sandboxFile(datadir.Dir(c.DataDir)), s)
	if err == nil && !found {
		err = fmt.Errorf("there is no sandbox in %s: start one with 'confab sandbox'", c.DataDir)
	}
	return err
}

// player plays a story. Events come by a stream, in order; calls and messages are asked for.
type player struct {
	sandbox *sandboxState
	sim     simulatorClient
	story   []storyLine
	began   time.Time       // by the clock of the sandbox
	names   map[string]any  // the ids of what lines have named
	seen    map[string]bool // items that came before the last step or were found: by source and id

	mu     sync.Mutex
	events []jsonObject // the first is the newest of before, after which the stream begins
	failed error        // of the stream
}

// openPlayer begins to listen, until ctx ends: what happens from now on can be expected.
func openPlayer(ctx context.Context, s *sandboxState, story []storyLine) (*player, error) {
	p := &player{
		sandbox: s, sim: simulatorClient{simulatorAccess: s.simulatorAccess}, story: story,
		names: make(map[string]any), seen: make(map[string]bool),
	}
	first, err := p.newestEvent(ctx)
	if err == nil {
		p.began, err = p.clock(ctx)
	}
	if err != nil {
		return nil, err
	}

	p.events = []jsonObject{{"id": first}}
	events := &eventClient{
		http: &http.Client{}, key: s.APIKey, notify: func(string) {},
		url: s.BaseURL + "/events/stream?after=" + url.QueryEscape(cmp.Or(first, "oldest")),
	}
	go func() {
		err := events.follow(ctx, p.addEvent)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failed = err
	}()
	return p, p.mark(ctx)
}

func (p *player) addEvent(e sentEvent) error {
	var item jsonObject
	if err := json.Unmarshal(e.data, &item); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if item["object"] == "event" { // and not a gap
		p.events = append(p.events, item)
	}
	return nil
}

// clock asks what time it is in the sandbox.
func (p *player) clock(ctx context.Context) (time.Time, error) {
	var answer struct{ Now time.Time }
	err := p.sim.do(ctx, http.MethodGet, "/_sim/clock", nil, &answer)
	return answer.Now, err
}

// newestEvent asks for the id of the newest event; "" if there is none.
func (p *player) newestEvent(ctx context.Context) (id string, err error) {
	server := simulatorClient{simulatorAccess: simulatorAccess{SimulatorURL: p.sandbox.BaseURL, ControlToken: p.sandbox.APIKey}}
	var answer struct{ Data []struct{ ID string } }
	err = server.do(ctx, http.MethodGet, "/events?limit=1", nil, &answer)
	for _, event := range answer.Data {
		id = event.ID
	}
	return id, err
}

func (p *player) play(ctx context.Context) error {
	for _, line := range p.story {
		if err := p.waitUntil(ctx, line); err != nil {
			return err
		}

		play := p.expect
		if line.Do != "" {
			play = p.step
		}
		found, err := play(ctx, line)
		if err != nil {
			return fmt.Errorf("line %d: %w", line.number, err)
		}
		if line.As == "" {
			continue
		}
		if p.names[line.As] = found["id"]; found["id"] == nil {
			return fmt.Errorf("line %d: there is no id that %q could be the name of", line.number, line.As)
		}
	}
	return nil
}

// waitUntil waits for the time of a line, which counts from the beginning of the story by
// the clock of the sandbox: a step that moves it shortens the wait.
func (p *player) waitUntil(ctx context.Context, line storyLine) error {
	for line.At != nil {
		now, err := p.clock(ctx)
		if err != nil {
			return err
		}
		left := p.began.Add(time.Duration(*line.At)).Sub(now)
		if left <= 0 {
			break
		}
		if !queue.Pause(ctx, min(left, time.Second)) {
			return ctx.Err()
		}
	}
	return nil
}

// step plays people or the provider. What was there before is not expected any more.
func (p *player) step(ctx context.Context, line storyLine) (made jsonObject, err error) {
	if err := p.mark(ctx); err != nil {
		return nil, err
	}
	with := p.replace(line.With).(jsonObject) // an empty one for none

	target, field := storyCalls[line.Do], line.pathField()
	part, isText := with[field].(string)
	if !isText {
		part = shortJSON(with[field]) // a number, as it was written
	}
	target = placeholder.ReplaceAllLiteralString(target, url.PathEscape(part))
	delete(with, field)
	err = p.sim.do(ctx, http.MethodPost, target, with, &made)
	return made, err
}

// replace is a value with ids in the place of names.
func (p *player) replace(v any) any {
	return replaceNames(v, func(name string) any { return p.names[name] })
}

// mark makes all that is there count as seen, and waits for events that the stream has not brought yet.
func (p *player) mark(ctx context.Context) error {
	newest, err := p.newestEvent(ctx)
	if err != nil {
		return err
	}
	for end := time.Now().Add(expectTime); !p.hasEvent(newest) && time.Now().Before(end); {
		if !queue.Pause(ctx, lookEvery/10) {
			return ctx.Err()
		}
	}

	for _, source := range storySources {
		items, err := p.items(ctx, source)
		if err != nil {
			return err
		}
		for _, item := range items {
			p.seen[itemKey(source, item)] = true
		}
	}
	return nil
}

// hasEvent reports whether the stream has brought an event, or began after it.
func (p *player) hasEvent(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprint(p.events[len(p.events)-1]["id"]) >= id
}

// items lists what there is of a source, oldest first.
func (p *player) items(ctx context.Context, source string) ([]jsonObject, error) {
	if source == "event" {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Clone(p.events), p.failed
	}

	var answer struct{ Data []jsonObject }
	if source == "message" {
		err := p.sim.do(ctx, http.MethodGet, "/_sim/messages", nil, &answer)
		return answer.Data, err
	}
	err := p.sim.do(ctx, http.MethodGet, "/_sim/calls?direction=all", nil, &answer)
	slices.Reverse(answer.Data)
	return answer.Data, err
}

func itemKey(source string, item jsonObject) string { return source + " " + fmt.Sprint(item["id"]) }

// expect waits for the first item since the last step that contains the object of a line.
func (p *player) expect(ctx context.Context, line storyLine) (jsonObject, error) {
	within := expectTime
	if line.Within != nil {
		within = time.Duration(*line.Within)
	}
	source, want := line.source(), p.replace(line.wanted())

	for end := time.Now().Add(within); ; {
		isLast := time.Now().After(end)
		items, err := p.items(ctx, source)
		if err != nil {
			return nil, err
		}
		items = slices.DeleteFunc(items, func(item jsonObject) bool { return p.seen[itemKey(source, item)] })

		for _, item := range items {
			if difference(want, item, "") == "" {
				p.seen[itemKey(source, item)] = true
				return item, nil
			}
		}
		if isLast {
			return nil, unmet(source, within, want, items)
		}
		if !queue.Pause(ctx, lookEvery) {
			return nil, ctx.Err()
		}
	}
}

const shownItems = 10

// unmet is the error of an expectation that was not met, with what came instead.
func unmet(source string, within time.Duration, want any, items []jsonObject) error {
	instead := fmt.Sprintf("No %s came at all.", source)
	if len(items) > 0 {
		instead = "What came instead:"
	}
	for _, item := range items[:min(len(items), shownItems)] {
		instead += fmt.Sprintf("\n  %s\n    %s", shortJSON(item), difference(want, item, ""))
	}
	if more := len(items) - shownItems; more > 0 {
		instead += fmt.Sprintf("\n  … and %d more", more)
	}
	return fmt.Errorf("no %s within %s that contains\n  %s\n%s", source, within, shortJSON(want), instead)
}
