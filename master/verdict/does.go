// What a rank does that other ranks wait for.

package verdict

import (
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// does returns what a rank does that does not wait for a particular rank, with a verb in the singular: "sleeps in
// relax (hang.c:20)".
func (s *solver) does(r rank.ID) string {
	if int(r) >= len(s.doing) || s.doing[r] < 0 {
		return "was not looked at"
	}
	return s.doesBy(r, &s.g.Doings()[s.doing[r]])
}

// doesBy is does for a rank of a row.
func (s *solver) doesBy(r rank.ID, d *wait.Doing) string {
	at := place(d.Names())
	switch d.State {
	case wait.Stopped:
		return "is stopped by a signal" + at
	case wait.Traced:
		return "is stopped by a debugger" + at
	case wait.Dead:
		return "has ended"
	case wait.Silent:
		return "did not answer"
	case wait.Unread:
		return "could not be read"
	case wait.Disk:
		return "waits for a device" + at
	}
	if s.blocked.Contains(r) {
		return s.waitsOpenly(r)
	}
	if text := inKernel(d.Names()); text != "" {
		return text
	}
	if d.State == wait.Sleeping {
		return "waits in the kernel" + at
	}
	return "computes" + at
}

// waitsOpenly returns what a rank in MPI waits for that does not wait for a particular rank.
func (s *solver) waitsOpenly(r rank.ID) string {
	for i := range s.g.Edges() {
		e := &s.g.Edges()[i]
		for _, run := range e.Pairs.Runs() {
			switch {
			case r < run.First || r > run.Last():
			case run.Peer == wait.Any:
				return "waits in " + e.Function + " for a message of any rank (" + tagText(e.Tag) + ")"
			case e.Need == wait.One:
				return "waits in " + e.Function + " for one of several messages"
			case run.Peer == wait.Unknown && (e.Function == "MPI_Finalize" || e.Function == "MPI_Init" || e.Function == "MPI_Init_thread"):
				return "is in " + e.Function
			case run.Peer == wait.Unknown:
				return "is in " + e.Function + ", it is not known for whom"
			}
		}
	}
	for i := range s.groups {
		if x := &s.groups[i]; x.in.Contains(r) {
			if x.mismatch != "" {
				return "is in a call on " + commName(x.comm) + " that does not fit"
			}
			return "is in " + strings.Join(x.names(), " and ") + " on " + commName(x.comm) + ", which all members have entered"
		}
	}
	if s.torch.Contains(r) {
		return "is in torch.distributed, where its message is under way"
	}
	return "is in MPI, where its message is under way"
}

// verbs joins ranks and what each of them does.
func verbs(ranks rank.Set, does string) string {
	if ranks.Len() == 1 {
		return Ranks(ranks) + " " + does
	}
	verb, rest, _ := strings.Cut(does, " ")
	switch verb {
	case "is":
		verb = "are"
	case "has":
		verb = "have"
	case "was":
		verb = "were"
	case "did", "could":
	default:
		verb = strings.TrimSuffix(verb, "s")
	}
	return Ranks(ranks) + " " + strings.TrimSpace(verb+" "+rest)
}

// place returns the innermost function that is in no library and has a name: " in relax (hang.c:20)". If there is
// none, it is the innermost function; "": there are no frames.
func place(frames []string) string {
	if len(frames) == 0 {
		return ""
	}
	for _, f := range frames {
		if !strings.Contains(f, " from ") && !strings.HasPrefix(f, "??") {
			return " in " + frameText(f)
		}
	}
	return " in " + frameText(frames[0])
}

// frameText formats "relax hang.c:20" as "relax (hang.c:20)".
func frameText(f string) string {
	name, rest, ok := strings.Cut(f, " ")
	if i := strings.LastIndex(f, " "); ok && i > 0 && strings.Contains(f[i:], ":") && !strings.Contains(f, " from ") {
		name, rest = f[:i], f[i+1:]
		return name + " (" + rest + ")"
	}
	if rest == "" {
		return name
	}
	return f
}

// kernel tells what functions of the C library wait for in the kernel.
var kernel = map[string]string{
	"nanosleep": "sleeps", "clock_nanosleep": "sleeps", "usleep": "sleeps", "sleep": "sleeps", "pause": "waits in pause for a signal",
	"pthread_mutex_lock": "waits for a mutex", "__lll_lock_wait": "waits for a mutex", "lll_mutex_lock_optimized": "waits for a mutex",
	"pthread_cond_wait": "waits for a condition variable", "pthread_join": "waits for a thread", "sem_wait": "waits for a semaphore",
	"open": "waits in open", "openat": "waits in open", "read": "waits in read", "write": "waits in write",
	"poll": "waits in poll", "select": "waits in select", "epoll_wait": "waits in epoll_wait", "accept": "waits in accept",
	"connect": "waits in connect", "recv": "waits in recv", "recvfrom": "waits in recv", "send": "waits in send",
	"waitpid": "waits for a child", "wait4": "waits for a child", "flock": "waits for a file lock", "fsync": "waits in fsync",
}

// inKernel returns what a stack waits for in the kernel: it is the entry in kernel of the outermost of the
// functions of the C library at the inner end of the stack; "": not known.
func inKernel(frames []string) string {
	found, user := "", 0
	for i, f := range frames {
		name, _, _ := strings.Cut(f, " ")
		bare := strings.TrimLeft(name, "_")
		bare = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(bare, "64"), "_nocancel"), "GI_")
		bare, _, _ = strings.Cut(bare, "@")
		text, ok := kernel[name]
		if !ok {
			text, ok = kernel[bare]
		}
		switch {
		case ok:
			found, user = text, i+1
		case strings.Contains(f, " from libc") || name == "??" || strings.Contains(name, "futex"):
		default:
			if found == "" {
				return ""
			}
			return found + place(frames[user:])
		}
	}
	if found == "" {
		return ""
	}
	return found + place(frames[user:])
}
