// Scripts of sessions with simulated ranks: testdata/*.txt.
//
//	new [size=N] [variants=N] [crash=SET] [crash-line=N] [fail=SET] [hang=SET] [loop=SET]
//	    [output=TEXT] [run=DURATION] [answer=DURATION]     durations are times (rank + 1)
//	attach SET [STOP-AT | running]
//	do                     lines: SET COMMAND [ARGS AS JSON]
//	advance DURATION
//	ended SET SIGNAL
//	close

package sim

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"

	"github.com/cockroachdb/datadriven"
)

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.run(d)
		})
	})
}

type script struct {
	t     *testing.T
	log   *log
	clock *handClock
	b     *Backend
	id    protocol.RequestID
}

func (s *script) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "new":
		s.create(d)
	case "attach":
		s.attach(d)
	case "do":
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			s.command(line)
		}
	case "advance":
		step, err := time.ParseDuration(d.CmdArgs[0].Key)
		s.check(err)
		s.clock.advance(step)
	case "ended":
		for r := range s.set(d.CmdArgs[0].String()).All() {
			s.b.Ended(r, protocol.Exit{Signal: d.CmdArgs[1].Key})
		}
	case "close":
		s.check(s.b.Close(s.t.Context()))
	default:
		s.t.Fatalf("unknown command %s", d.Cmd)
	}
	lines := s.log.take()
	if len(lines) == 0 {
		return "ok\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *script) create(d *datadriven.TestData) {
	s.log, s.clock, s.id = &log{}, &handClock{now: time.Unix(0, 0)}, 0
	cfg := Config{Clock: s.clock}
	for _, a := range d.CmdArgs {
		v := strings.Join(a.Vals, ",")
		number := func() int {
			n, err := strconv.Atoi(v)
			s.check(err)
			return n
		}
		times := func() func(rank.ID, int) time.Duration {
			unit, err := time.ParseDuration(v)
			s.check(err)
			return func(r rank.ID, _ int) time.Duration { return unit * time.Duration(r+1) }
		}
		switch a.Key {
		case "size":
			cfg.Size = number()
		case "variants":
			cfg.Variants = number()
		case "crash":
			cfg.Crash = s.set(v)
		case "crash-line":
			cfg.CrashLine = number()
		case "fail":
			cfg.Fail = s.set(v)
		case "hang":
			cfg.Hang = s.set(v)
		case "loop":
			cfg.Loop = s.set(v)
		case "output":
			cfg.Output = v + "\n"
		case "run":
			cfg.RunTime = times()
		case "answer":
			cfg.AnswerTime = times()
		default:
			s.t.Fatalf("unknown setting %s", a.Key)
		}
	}
	s.b = New(cfg, s.log)
}

func (s *script) attach(d *datadriven.TestData) {
	s.id++
	stopAt, held := "", true
	if len(d.CmdArgs) > 1 {
		stopAt = d.CmdArgs[1].Key
		held = stopAt != "running"
	}
	var targets []backend.Target
	for r := range s.set(d.CmdArgs[0].String()).All() {
		targets = append(targets, backend.Target{Rank: r, Held: held})
	}
	s.b.Attach(s.id, targets, stopAt, 0)
}

func (s *script) command(line string) {
	s.id++
	set, rest, _ := strings.Cut(line, " ")
	name, args, hasArgs := strings.Cut(rest, "{")
	req := backend.Request{ID: s.id, Ranks: s.set(set), Command: &protocol.Command{Name: strings.TrimSpace(name)}}
	if hasArgs {
		s.check(json.Unmarshal([]byte("{"+args), &req.Command.Args))
	}
	s.b.Do(req)
}

func (s *script) set(text string) rank.Set {
	var set rank.Set
	s.check(set.UnmarshalText([]byte(text)))
	return set
}

func (s *script) check(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}
