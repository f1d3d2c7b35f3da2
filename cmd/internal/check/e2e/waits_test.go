package e2e

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// alone is a case of waits.c or waits.py, a process without MPI: the row that sdm waits must have for it, and what
// must be found; "": nothing. RANK stands for its rank.
type alone struct{ name, row, found string }

// processes were written down from what the cases do.
var processes = []alone{
	{"cycle", "is in a deadlock of threads: thread 1 waits for a mutex in cycle (waits.c) that thread 2 holds, thread 2 waits for a mutex in second (waits.c) that thread 1 holds",
		"certain: deadlock of threads of RANK: thread 1 waits for a mutex in cycle (waits.c) that thread 2 holds, thread 2 waits for a mutex in second (waits.c) that thread 1 holds"},
	{"reader", "waits for a lock for reading in reader (waits.c) that thread 2 holds; thread 2 (table) waits for a signal in forever (waits.c)",
		"certain: RANK waits for a lock for reading in reader (waits.c) that thread 2 holds; thread 2 (table) waits for a signal in forever (waits.c)"},
	{"orphan", "waits for a mutex in orphan (waits.c): the thread that has locked it has ended, or has stayed in the parent at a fork", "certain: RANK waits for a mutex in orphan (waits.c): the thread that has locked it has ended, or has stayed in the parent at a fork"},
	{"join", "waits for the end of thread 2 in join (waits.c); thread 2 computes in work (waits.c)", ""},
	{"condition", "waits for a condition variable in condition (waits.c)", ""},
	{"reenter", "waits for a mutex in on_signal (waits.c) that the thread itself holds, in a handler of SIGUSR1 that has interrupted reenter (waits.c)",
		"certain: deadlock of threads of RANK: thread 1 waits for a mutex in on_signal (waits.c) that the thread itself holds, in a handler of SIGUSR1 that has interrupted reenter (waits.c)"},
	{"shared", "waits for a mutex in shared (waits.c): process N (waits) holds it", "certain: RANK waits for a mutex in shared (waits.c): process N (waits) holds it"},
	{"fifo", "waits in open of DIR/fifo in fifo (waits.c): no process has opened this FIFO for reading", ""},
	{"ownpipe", "waits in read of a pipe in ownpipe (waits.c): only the process itself can write to it", ""},
	{"child", "waits for the end of process N (waits) in child (waits.c); process N (waits) waits for a signal in forever (waits.c)", ""},
	{"holds", "waits for a signal in forever (waits.c)", ""},
	{"flocks", "waits for BEFORE (lock of DIR/lock) in flocks (waits.c)", "certain: RANK waits for BEFORE (lock of DIR/lock); BEFORE waits for a signal in forever (waits.c)"},
	{"receives", "waits in recv of a connection to 127.0.0.1:N in receives (waits.c)", ""},
	{"input", "waits in read of standard input (a pipe) in input (waits.c): process N (e2e.test) can write to it", ""},
	{"polls", "waits in poll for standard input (a pipe) in polls (waits.c)", ""},
	{"sleeps", "sleeps for up to N s in sleeps (waits.c)", ""},
	{"stopped", "is stopped by SIGSTOP in stopped (waits.c)", "certain: RANK is stopped by SIGSTOP in stopped (waits.c)"},
	{"waits.py held", "waits for the lock of Python in step (waits.py) that thread 2 holds; thread 2 sleeps in hold (waits.py)",
		"certain: RANK waits for the lock of Python in step (waits.py) that thread 2 holds; thread 2 sleeps in hold (waits.py)"},
	{"waits.py joins", "waits in Thread.join (threading.py) in joins (waits.py)", ""},
	{"waits.py gets", "waits in Queue.get (queue.py) in gets (waits.py)", ""},
	{"waits.py locks", "waits for a lock of threading in locks (waits.py)", ""},
	{"waits.py condition", "waits for a condition variable in condition (waits.py)", ""},
	{"waitsbusy", "", ""}, {"contention", "", ""}, {"checkpoint", "", ""}, // which go on
}

// volatile are parts of what is said that differ from run to run.
var volatile = []struct {
	is *regexp.Regexp
	by string
}{
	{lineOfSource, ")"}, {regexp.MustCompile(`process \d+`), "process N"}, {regexp.MustCompile(`up to \d+ s`), "up to N s"},
	{regexp.MustCompile(`127.0.0.1:\d+`), "127.0.0.1:N"},
	{regexp.MustCompile(` \(Thread-1 \(hold\)\)`), ""}, // from 3.14 on Python gives the kernel the names of its threads
}

// steady replaces the volatile parts of a text, and the directory of a scene.
func steady(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	for _, v := range volatile {
		text = v.is.ReplaceAllString(text, v.by)
	}
	return text
}

// TestWaitsOfProcesses looks at processes without MPI that wait in many ways, as the ranks of one job, and at
// some that go on, about which nothing may be found.
func TestWaitsOfProcesses(t *testing.T) {
	s := newScene(t)
	python := systemPython(t)
	var pids, found []string
	rows := map[string]string{}
	for i, c := range processes {
		var p *process
		if file, name, ok := strings.Cut(c.name, " "); ok {
			p = s.start(python, absolute(t, sources+"/"+file), name)
		} else {
			p = s.start(program("waits"), c.name, s.dir)
		}
		pid := p.cmd.Process.Pid
		defer func() {
			syscall.Kill(-pid, syscall.SIGKILL)
			<-p.ended
		}()
		of := func(text string) string {
			return strings.NewReplacer("RANK", strconv.Itoa(i), "BEFORE", strconv.Itoa(i-1)).Replace(text)
		}
		pids = append(pids, strconv.Itoa(pid))
		if c.row != "" {
			rows["["+strconv.Itoa(i)+"]"] = of(c.row)
		}
		if c.found != "" {
			found = append(found, of(c.found))
		}
	}
	s.eventually(patience, func() string { // they may not wait yet
		p := s.start(unraced("sdm"), "waits", "pids:"+strings.Join(pids, ","))
		p.exits(0)
		var said []string
		missing := len(rows)
		complaint := ""
		for _, line := range strings.Split(steady(p.out.text(), s.dir), "\n") {
			ranks, row, _ := strings.Cut(line, " ")
			if strings.HasPrefix(line, "certain: ") || strings.HasPrefix(line, "so far: ") {
				said = append(said, line)
			} else if want, ok := rows[ranks]; ok {
				if missing--; row != want {
					complaint += ranks + " " + row + "\nwant " + want + "\n"
				}
			}
		}
		if got, want := sorted(said), sorted(found); got != want || missing > 0 {
			complaint += "found\n" + got + "\nwant\n" + want + p.said()
		}
		return complaint
	})
	i := slices.IndexFunc(processes, func(c alone) bool { return c.name == "child" })
	p := s.start(unraced("sdm"), "stacks", "--children", "--by", "function", "pids:"+pids[i])
	if p.exits(0); !strings.Contains(p.out.text(), "[0] (1) process (waits)\n└─ main\n") {
		t.Error("the child of a rank is not shown" + p.said())
	}
}

// sorted joins lines in the order of their texts.
func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
