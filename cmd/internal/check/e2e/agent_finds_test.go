package e2e

import (
	"flag"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

var allPlants = flag.Bool("all-plants", false, "all faults that the scripted agent is to find; else some")

// plant is a fault, as who has planted it knows it.
type plant struct {
	name      string
	run       []string // of MPI: the program and its argument; else a program that is started by the agent
	complaint string   // what the user tells the agent: the first state
	found     string   // what it must conclude
	proof     string   // regular expression for the answer from which it concludes
	calls     int      // goals
	tokens    int      // of 4 bytes, arguments and answers together
	more      bool     // it is planted with -all-plants only
}

// plants are judged by what hang.c, crash.c and faulty.c do.
var plants = []plant{
	{name: "wrong tag", run: []string{"hang", "tag"}, complaint: "hangs", found: "deadlock of rank 3", proof: "receive tag 99, 2 has sent tag 7", calls: 2, tokens: 3000},
	{name: "ring", run: []string{"hang", "ring"}, complaint: "hangs", found: "deadlock of all ranks", proof: `3 waits for 0 \(receive tag 3\)`, calls: 2, tokens: 3000, more: true},
	{name: "another collective", run: []string{"hang", "functions"}, complaint: "hangs", found: "mismatch of rank 2", proof: "MPI_Barrier by 2", calls: 2, tokens: 3000, more: true},
	{name: "mutex", run: []string{"hang", "mutex"}, complaint: "hangs", found: "absence of rank 2", proof: `a mutex in update \(hang.c:\d+\) that thread \d+ holds`, calls: 2, tokens: 3000},
	{name: "another communicator", run: []string{"hang", "subcomm"}, complaint: "hangs", found: "deadlock of rank 3", proof: "3 waits in MPI_Barrier on odd for 1", calls: 2, tokens: 3000, more: true},
	{name: "file", run: []string{"hang", "fifo"}, complaint: "hangs", found: "absence of rank 2", proof: "no process has opened this FIFO for writing", calls: 2, tokens: 3000, more: true},
	{name: "crash", run: []string{"crash"}, complaint: "crashes", found: "SIGSEGV of rank 3 in helper", proof: "where = .*0x0", calls: 4, tokens: 3000},
	{name: "nan", run: []string{"faulty", "nan"}, complaint: "computes nonsense in heat of advance", found: "NaN of rank 1", proof: `\[1\] heat = -?nan|nan \[1\]`, calls: 5, tokens: 4000},
	{name: "slow rank", run: []string{"faulty", "slow"}, complaint: "is slow", found: "slowness of rank 2 in work", proof: "no hang", calls: 3, tokens: 4000, more: true},
	{name: "leak of requests", run: []string{"faulty", "leak"}, complaint: "grows in pool.used of post", found: "growth of rank 3", proof: "stopped in post at faulty.c:", calls: 6, tokens: 5000, more: true},
}

// move is a row of the agent's table: in a state, if the last answer is like that, the next call, or what it concludes.
// {NAME} is what a regular expression or the task has given.
type move struct {
	in, seen   string
	tool, args string
	to         string
	conclude   string
}

// moves is the agent: the first row that fits is taken.
var moves = []move{
	{in: "hangs", tool: "sdm_why", args: `{"of":"{of}"}`, to: "reads"},
	{in: "reads", seen: `^certain: deadlock: [\d-]+ wait for \d+\.\.\d+ `, conclude: "deadlock of all ranks"},
	{in: "reads", seen: `^certain: deadlock: .*, (?P<rank>\d+) waits `, conclude: "deadlock of rank {rank}"},
	{in: "reads", seen: `^certain: calls that do not fit .* by (?P<rank>\d+)(?:,|\n)`, conclude: "mismatch of rank {rank}"},
	{in: "reads", seen: `^certain: .* wait in .* for (?P<rank>\d+); `, conclude: "absence of rank {rank}"},
	{in: "reads", tool: "sdm_why", args: `{"of":"{of}","samples":8,"every":"300ms"}`, to: "reads"},

	{in: "crashes", tool: "sdm_start", args: `{"id":"s","run":["{program}"],"np":4}`, to: "stands"},
	{in: "stands", seen: `stopped in main`, tool: "sdm_resume", args: `{"id":"c","how":"continue"}`, to: "ran"},
	{in: "ran", seen: `\[(?P<rank>\d+)\] stopped in (?P<where>\w+) .*(?P<signal>SIG\w+)`, tool: "sdm_ask", args: `{"ranks":"{rank}","how":"args"}`, to: "knows"},
	{in: "knows", conclude: "{signal} of rank {rank} in {where}"},

	{in: "computes nonsense in {expr} of {where}", tool: "sdm_start", args: `{"id":"s","run":["{starter}","-n","4","{program}","{argument}"]}`, to: "begins"},
	{in: "begins", seen: `^not done yet`, tool: "sdm_start", args: `{"id":"s","run":["{starter}","-n","4","{program}","{argument}"]}`, to: "begins"},
	{in: "begins", seen: `stopped`, tool: "sdm_break", args: `{"at":"{where}","if":"{expr} != {expr}"}`, to: "waits for it"},
	{in: "waits for it", seen: `Breakpoint`, tool: "sdm_resume", args: `{"id":"c","how":"continue"}`, to: "changed"},
	{in: "changed", seen: `\[(?P<rank>\d+)\] stopped in .*breakpoint-hit`, tool: "sdm_ask", args: `{"expr":["{expr}"],"how":"stat"}`, to: "is nan"},
	{in: "is nan", seen: `nan`, conclude: "NaN of rank {rank}"},

	{in: "is slow", tool: "sdm_why", args: `{"of":"{of}","samples":10,"every":"300ms"}`, to: "samples"},
	{in: "samples", seen: `(?m)^\[(?P<rank>\d+)\] computes in (?P<where>\w+) `, conclude: "slowness of rank {rank} in {where}"},

	{in: "grows in {expr} of {where}", tool: "sdm_start", args: `{"id":"s","attach":"{of}"}`, to: "attached"},
	{in: "attached", seen: `stopped`, tool: "sdm_ask", args: `{"expr":["{expr}"],"how":"stat"}`, to: "compares"},
	{in: "compares", seen: `max (?P<most>\d+) \[(?P<rank>\d+)\]`, tool: "sdm_break", args: `{"ranks":"{rank}","at":"{where}","if":"{expr} > {most}"}`, to: "waits for more"},
	{in: "waits for more", seen: `Breakpoint`, tool: "sdm_resume", args: `{"id":"c","how":"continue"}`, to: "grew"},
	{in: "grew", seen: `\[(?P<rank>\d+)\] stopped in .*breakpoint-hit`, conclude: "growth of rank {rank}"},
}

// think follows the table from a complaint to a conclusion. last is the answer from which it follows.
func (c *agent) think(task map[string]string) (conclusion, last string) {
	c.t.Helper()
	facts := maps.Clone(task)
	filled := func(text string) string {
		for name, value := range facts {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
		return text
	}
	state := facts["complaint"]
	for range 20 {
		next := -1
		for i, m := range moves {
			if filled(m.in) != state {
				continue
			}
			re := regexp.MustCompile(m.seen)
			found := re.FindStringSubmatch(last)
			if found == nil {
				continue
			}
			for k, name := range re.SubexpNames() {
				if name != "" {
					facts[name] = found[k]
				}
			}
			next = i
			break
		}
		if next < 0 {
			return "nothing, in state " + state, last
		}
		m := moves[next]
		if m.conclude != "" {
			return filled(m.conclude), last
		}
		last, state = c.tool(m.tool, filled(m.args)), filled(m.to)
	}
	return "nothing: it runs in circles", last
}

// TestAgentFindsFaults lets an agent without a model find planted faults, by as few calls and tokens as the goals permit.
func TestAgentFindsFaults(t *testing.T) {
	t.Parallel()
	m := openMPI
	for _, p := range plants {
		if p.more && !*allPlants {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			task := map[string]string{"complaint": p.complaint, "starter": m.command, "program": program(p.run[0])}
			if len(p.run) > 1 {
				task["program"], task["argument"] = m.program(p.run[0]), p.run[1]
			}
			if _, about, some := strings.Cut(p.complaint, " in "); some {
				task["expr"], task["where"], _ = strings.Cut(about, " of ")
			}
			var job *process
			if !strings.Contains(p.complaint, "crashes") && !strings.Contains(p.complaint, "nonsense") {
				job = s.mpirun(m, 4, task["program"], task["argument"])
				defer s.endJob(job)
				task["of"] = strconv.Itoa(job.cmd.Process.Pid)
				s.allRun(job, 4)
			}
			c := s.agree()
			got, from := c.think(task)
			if got != p.found || !regexp.MustCompile(p.proof).MatchString(from) {
				t.Errorf("it concludes: %s, not %s, from\n%s", got, p.found, from)
			}
			if tokens := c.bytes / 4; c.calls > p.calls || tokens > p.tokens {
				t.Errorf("%d calls and %d tokens; goals are %d and %d", c.calls, tokens, p.calls, p.tokens)
			} else {
				t.Logf("%d calls, %d tokens", c.calls, tokens)
			}
			if len(s.stateFiles()) > 0 {
				how := "kill"
				if job != nil {
					how = "detach"
				}
				c.tool("sdm_end", fmt.Sprintf(`{"how":%q}`, how), "has ended")
			}
			c.leave()
		})
	}
}

// allRun waits until so many ranks of MPI run. They keep their priority: the verdict on ranks that hardly ever run is
// "so far" on a busy machine, and the agent would ask again and again.
func (s *scene) allRun(job *process, n int) {
	s.t.Helper()
	s.eventually(patience, func() string {
		ranks := strings.Count(job.out.text(), "rank ")
		if ranks < n {
			return fmt.Sprintf("%d ranks are there", ranks)
		}
		return ""
	})
}

// endJob ends a job of mpirun with its ranks.
func (s *scene) endJob(job *process) {
	for _, p := range s.found() {
		if strings.HasPrefix(p.name, "hang") || strings.HasPrefix(p.name, "faulty") {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	job.status(patience)
}

// TestAgentAtScale finds the hang of 512 simulated ranks in two calls and 3,000 tokens.
func TestAgentAtScale(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	script := s.file("hang.sim", "barrier 0-510\nring 511\n", 0o600)
	sim := s.start("sdm", "sim", "-n", "512", "--keep", "5m", "--script", script, "-b", "-e", "break helper", "-e", "continue", "-e", "leave")
	s.eventually(patience, func() string {
		if sim.running() && !strings.Contains(sim.out.text(), "left sdm-1") {
			return "it is not there" + sim.said()
		}
		return ""
	})
	c := s.agree()
	page := c.tool("sdm_why", `{"of":"sdm-1"}`, "deadlock", "0-510 wait in MPI_Barrier", "511 waits for 0")
	if tokens := c.bytes / 4; tokens > 3000 {
		t.Errorf("%d tokens:\n%s", tokens, page)
	} else {
		t.Logf("%d calls, %d tokens", c.calls, tokens)
	}
	c.leave()
	s.joined("-e", "quit")
	sim.exits(0)
}
