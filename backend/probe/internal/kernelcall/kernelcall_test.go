package kernelcall

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fake is a process with some memory.
type fake struct {
	memory    map[uint64][]byte // by the begin of a page
	files     map[int]string
	fifo      bool
	fs        string
	others    []Peer
	own, all  bool
	holder    Peer
	children  []Peer
	watched   []int
	directory string
	swapped   int
}

func (f *fake) Read(addr uint64, b []byte) bool {
	const page = 4096
	for at, p := range f.memory {
		if addr >= at && addr < at+page {
			var whole [page]byte
			copy(whole[:], p)
			return copy(b, whole[addr-at:]) == len(b)
		}
	}
	return false
}

func (f *fake) File(fd int) string                     { return f.files[fd] }
func (f *fake) Directory() string                      { return f.directory }
func (f *fake) IsFIFO(string) bool                     { return f.fifo }
func (f *fake) FileSystem(string) string               { return f.fs }
func (f *fake) Ends(string, bool) ([]Peer, bool, bool) { return f.others, f.own, f.all }
func (f *fake) Socket(int) string                      { return "a connection to 10.0.0.1:80" }
func (f *fake) Watched(int) []int                      { return f.watched }
func (f *fake) LockHolder() (Peer, bool)               { return f.holder, f.holder.PID != 0 }
func (f *fake) Peer(pid int) Peer                      { return Peer{pid, "sh"} }
func (f *fake) Children() []Peer                       { return f.children }
func (f *fake) Now(int) (time.Duration, bool)          { return 5 * time.Second, true }

func (f *fake) Swapped() int { return f.swapped }

func words(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func TestOf(t *testing.T) {
	const at = 0x1000
	minus := func(n int64) uint64 { return uint64(n) }
	pipe := map[int]string{3: "pipe:[7]"}
	for name, c := range map[string]struct {
		call Call
		p    fake
		want string // Does, Detail, For and Object
	}{
		"a page":          {Call{Number: Fault}, fake{}, "waits for a page of memory||0|"},
		"a page, swapped": {Call{Number: Fault}, fake{swapped: 1025}, "waits for a page of memory|2 MiB of the process are swapped out|0|"},
		"not known":       {Call{Number: 999}, fake{}, "||0|"},
		"runs":            {Call{Number: None}, fake{}, "||0|"},
		"open":            {Call{257, [6]uint64{minus(atCWD), at, 0}}, fake{memory: map[uint64][]byte{at: []byte("f")}, directory: "/w", fifo: true}, "waits in open of /w/f|no process has opened this FIFO for writing|0|"},
		"open, both ways": {Call{2, [6]uint64{at, 2}}, fake{memory: map[uint64][]byte{at: []byte("/f")}, fifo: true}, "waits in open of /f||0|"},
		"open on NFS":     {Call{2, [6]uint64{at, 1}}, fake{memory: map[uint64][]byte{at: []byte("/n/f")}, fs: "nfs4 of s:/n"}, "waits in open of /n/f|it is on nfs4 of s:/n|0|"},
		"open, no path":   {Call{2, [6]uint64{0x9000, 1}}, fake{}, "waits in open of a file||0|"},
		"odd name":        {Call{2, [6]uint64{at, 1}}, fake{memory: map[uint64][]byte{at: []byte("/a\nb")}}, `waits in open of "/a\nb"||0|`},
		"long name":       {Call{2, [6]uint64{at, 1}}, fake{memory: map[uint64][]byte{at: []byte("/" + strings.Repeat("x", 300))}}, "waits in open of /" + strings.Repeat("x", 99) + "…" + strings.Repeat("x", 100) + "||0|"},
		"endless name":    {Call{2, [6]uint64{at, 1}}, fake{memory: map[uint64][]byte{at: []byte(strings.Repeat("x", 4096))}}, "waits in open of a file||0|"},
		"read":            {Call{0, [6]uint64{0}}, fake{files: map[int]string{0: "/dev/pts/1"}}, "waits in read of standard input (/dev/pts/1)||0|"},
		"read, closed":    {Call{0, [6]uint64{9}}, fake{}, "waits in read of file descriptor 9||0|"},
		"one writer":      {Call{0, [6]uint64{3}}, fake{files: pipe, others: []Peer{{7, "cat"}}, all: true}, "waits in read of a pipe|process 7 (cat) can write to it|7|to write to a pipe"},
		"perhaps more":    {Call{0, [6]uint64{3}}, fake{files: pipe, others: []Peer{{7, "cat"}}}, "waits in read of a pipe|process 7 (cat) can write to it|0|"},
		"many writers":    {Call{0, [6]uint64{3}}, fake{files: pipe, others: []Peer{{7, "a"}, {8, ""}, {9, "c"}, {10, "d"}}, all: true}, "waits in read of a pipe|process 7 (a), process 8, process 9 (c), and 1 more can write to it|0|"},
		"itself":          {Call{0, [6]uint64{3}}, fake{files: pipe, own: true, all: true}, "waits in read of a pipe|only the process itself can write to it|0|"},
		"itself perhaps":  {Call{0, [6]uint64{3}}, fake{files: pipe, own: true}, "waits in read of a pipe||0|"},
		"one reader":      {Call{1, [6]uint64{3}}, fake{files: pipe, others: []Peer{{7, "less"}}, all: true}, "waits in write of a pipe|process 7 (less) can read from it|7|to read from a pipe"},
		"socket":          {Call{45, [6]uint64{4}}, fake{files: map[int]string{4: "socket:[1]"}}, "waits in recv of a connection to 10.0.0.1:80||0|"},
		"accept":          {Call{43, [6]uint64{4}}, fake{files: map[int]string{4: "socket:[1]"}}, "waits in accept on a connection to 10.0.0.1:80||0|"},
		"connect":         {Call{42, [6]uint64{4, at, 16}}, fake{memory: map[uint64][]byte{at: {2, 0, 0x13, 0x88, 10, 0, 0, 2}}}, "waits in connect to 10.0.0.2:5000||0|"},
		"connect, IPv6":   {Call{42, [6]uint64{4, at, 28}}, fake{memory: map[uint64][]byte{at: append([]byte{10, 0, 0, 80, 0, 0, 0, 0}, append(make([]byte, 15), 1)...)}}, "waits in connect to [::1]:80||0|"},
		"connect, Unix":   {Call{42, [6]uint64{4, at, 110}}, fake{memory: map[uint64][]byte{at: []byte("\x01\x00/run/x")}}, "waits in connect to /run/x||0|"},
		"connect, short":  {Call{42, [6]uint64{4, at, 1}}, fake{}, "waits in connect to an address that is not known||0|"},
		"poll":            {Call{7, [6]uint64{at, 3}}, fake{memory: map[uint64][]byte{at: words(5, 1<<32-1, 0)}, files: map[int]string{5: "anon_inode:[eventfd]", 0: "/dev/null"}}, "waits in poll for eventfd, standard input (/dev/null)||0|"},
		"poll of none":    {Call{7, [6]uint64{0, 0}}, fake{}, "sleeps||0|"},
		"poll, not read":  {Call{7, [6]uint64{0x9000, 1}}, fake{}, "waits in poll||0|"},
		"select of none":  {Call{23, [6]uint64{4}}, fake{}, "sleeps||0|"},
		"select, no sets": {Call{23, [6]uint64{4, 0x9000}}, fake{}, "waits in select||0|"},
		"select":          {Call{23, [6]uint64{4, at, 0, 0}}, fake{memory: map[uint64][]byte{at: words(1 << 3)}, files: pipe}, "waits in select for a pipe||0|"},
		"epoll":           {Call{232, [6]uint64{8}}, fake{watched: []int{3}, files: pipe}, "waits in epoll_wait for a pipe||0|"},
		"epoll of none":   {Call{232, [6]uint64{8}}, fake{}, "waits in epoll_wait||0|"},
		"flock":           {Call{73, [6]uint64{3, 2}}, fake{files: map[int]string{3: "/l"}, holder: Peer{9, "x"}}, "waits for a lock of /l|process 9 (x) holds it|9|lock of /l"},
		"fcntl":           {Call{72, [6]uint64{3, 7}}, fake{files: map[int]string{3: "/l"}}, "waits for a lock of /l||0|"},
		"fsync":           {Call{74, [6]uint64{3}}, fake{files: map[int]string{3: "/l"}, fs: "lustre of m"}, "waits in fsync of /l|it is on lustre of m|0|"},
		"wait4":           {Call{61, [6]uint64{12}}, fake{}, "waits for the end of process 12 (sh)||0|"},
		"wait4, any":      {Call{61, [6]uint64{minus(-1)}}, fake{children: []Peer{{5, "a"}, {6, "b"}}}, "waits for the end of a child|process 5 (a), process 6 (b)|0|"},
		"waitid":          {Call{247, [6]uint64{0}}, fake{children: []Peer{{5, "a"}}}, "waits for the end of its only child|process 5 (a)|0|"},
		"pause":           {Call{34, [6]uint64{}}, fake{}, "waits for a signal||0|"},
		"semop":           {Call{65, [6]uint64{}}, fake{}, "waits for a System V semaphore||0|"},
	} {
		t.Run(name, func(t *testing.T) {
			w := Of(c.call, &c.p)
			if got := strings.Join([]string{w.Does, w.Detail, strconv.Itoa(w.For), w.Object}, "|"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTimeLeft(t *testing.T) {
	const at = 0x1000
	for name, c := range map[string]struct {
		call Call
		time []byte
		want time.Duration
	}{
		"nanosleep":      {Call{35, [6]uint64{at}}, words(3, 500_000_000), 3500 * time.Millisecond},
		"from now":       {Call{230, [6]uint64{1, 0, at}}, words(9, 0), 9 * time.Second},
		"until":          {Call{230, [6]uint64{1, 1, at}}, words(9, 0), 4 * time.Second},
		"until long ago": {Call{230, [6]uint64{1, 1, at}}, words(2, 0), 0},
		"no time":        {Call{35, [6]uint64{at}}, words(1<<63, 1<<63), 0},
		"not read":       {Call{35, [6]uint64{0x5000}}, nil, 0},
	} {
		if w := Of(c.call, &fake{memory: map[uint64][]byte{at: c.time}}); w.Left != c.want || w.Does != "sleeps" || !Sleeps(c.call) {
			t.Errorf("%s: %v, want %v", name, w, c.want)
		}
	}
}

func TestLoaded(t *testing.T) {
	for code, want := range map[string]int{"\xb8\xca\x00\x00\x00\x0f\x05": 202, "\xb8\xca\x00\x00\x00\x0f\x06": None, "\x0f\x05": None, "": None} {
		if got := Loaded([]byte(code)); got != want {
			t.Errorf("%x: %d, want %d", code, got, want)
		}
	}
}

func TestRestarted(t *testing.T) {
	for functions, want := range map[string]int{
		"?? from libc.so.6|clock_nanosleep from libc.so.6|nanosleep from libc.so.6|main": 230,
		"__poll from libc.so.6|main":                  7,
		"nanosleep from libc.so.6":                    35,
		"pthread_cond_timedwait from libc.so.6|main":  FutexCall,
		"sem_clockwait@@GLIBC_2.30 from libc.so.6|f":  FutexCall,
		"mine|poll from libc.so.6":                    None,
		"poll|main":                                   None,
		"":                                            None,
		"pause from libc.so.6|nanosleep from libx.so": None,
	} {
		if got := Restarted(strings.Split(functions, "|")); got != want {
			t.Errorf("%s: %d, want %d", functions, got, want)
		}
	}
}

// TestFutexes has objects of glibc as they are in memory. The threads are 2, 16 and 100 to 102; 100 waits.
func TestFutexes(t *testing.T) {
	const shared, pi = 0, lockPI | private
	of := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	lock := []string{"?? from libc.so.6", "__pthread_mutex_lock from libc.so.6", "update"}
	for name, c := range map[string]struct {
		op        uint64
		value     uint64
		memory    []byte
		functions []string
		want      string
		owner     int
	}{
		"mutex":                           {private, 2, of(2, 0, 101, 1, 0), lock, "waits for a mutex", 101},
		"mutex, just unlocked":            {private, 2, of(2, 0, 0, 0, 0), lock, "waits for a mutex", 0},
		"mutex, owner gone":               {private, 2, of(2, 0, 555, 1, 0), lock, "waits for a mutex: the thread that has locked it has ended, or has stayed in the parent at a fork", 0},
		"mutex, shared, owner not here":   {shared, 2, of(2, 0, 555, 1, 0), lock, "waits for a mutex", 0},
		"mutex, no memory":                {private, 2, nil, lock, "waits for a mutex", 0},
		"mutex, robust":                   {private, 1<<31 | 102, of(1<<31|102, 0, 0, 1), lock, "waits for a mutex", 102},
		"mutex, inherits":                 {pi, 0, of(1<<31|102, 0, 0, 1), nil, "waits for a mutex", 102},
		"mutex, old glibc":                {private, 2, of(2, 0, 101, 1), []string{"__lll_lock_wait from libpthread-2.31.so", "pthread_mutex_lock@@GLIBC_2.2.5 from libpthread-2.31.so", "f"}, "waits for a mutex", 101},
		"mutex, musl":                     {private, 1<<31 | 16, of(1<<31|16, 0), []string{"pthread_mutex_lock from ld-musl-x86_64.so.1"}, "waits for a mutex", 0},
		"mutex, musl, recursive":          {private, 1<<31 | 102, of(1<<31|102, 0), []string{"pthread_mutex_lock from ld-musl-x86_64.so.1"}, "waits for a mutex", 102},
		"join, musl":                      {private, 2, of(2), []string{"pthread_join from ld-musl-x86_64.so.1"}, EndOfThread, 0},
		"mutex of another library":        {private, 2, of(2, 0, 555, 1), []string{"pthread_mutex_lock from libother.so"}, "waits for a mutex", 0},
		"lock, reads":                     {private, 2, of(2, 0, 0, 0, 101, 0), []string{"pthread_rwlock_rdlock from libc.so.6"}, "waits for a lock for reading", 101},
		"lock, writes":                    {private, 2, of(2, 0, 0, 102, 0, 0), []string{"pthread_rwlock_wrlock from libc.so.6"}, "waits for a lock for writing", 102},
		"lock, two candidates":            {private, 2, of(2, 0, 0, 102, 101, 0), []string{"pthread_rwlock_wrlock from libc.so.6"}, "waits for a lock for writing", 0},
		"join":                            {shared, 102, of(102), []string{"?? from libc.so.6", "main"}, EndOfThread, 102},
		"join, just ended":                {shared, 102, of(0), []string{"pthread_join from libc.so.6", "main"}, EndOfThread, 0},
		"join by a state in a descriptor": {shared, 2, of(2), []string{"?? from libc.so.6", "main"}, EndOfThread, 101},
		"descriptor, private":             {private, 2, of(2), []string{"?? from libc.so.6", "main"}, "waits for another thread", 0},
		"descriptor, lock":                {private, 2, of(2, 0, 102, 1, 0), lock, "waits for a mutex", 102},
		"condition":                       {private, 0, of(0, 0, 101), []string{"pthread_cond_wait from libc.so.6", "main"}, "waits for a condition variable", 0},
		"user's function":                 {private, 2, of(2, 0, 101, 1), []string{"mine", "pthread_mutex_lock from libc.so.6"}, "waits for another thread", 0},
		"semaphore":                       {private, 0, of(1<<31|101, 0), []string{"__new_sem_wait_slow64 from libc.so.6", "sem_wait from libc.so.6"}, "waits for a semaphore", 0},
	} {
		f := Futex{Call: Call{FutexCall, [6]uint64{0, c.op, c.value}}, Memory: c.memory, Functions: c.functions, Exists: func(tid int) bool { return tid >= 100 && tid <= 102 || tid == 2 || tid == 16 }}
		if strings.Contains(name, "descriptor") {
			f.Described = 101
		}
		w, owner := f.Of()
		got := w.Does
		if w.Detail != "" {
			got += ": " + w.Detail
		}
		if got != c.want || owner != c.owner || w.Lock != (owner != 0 && w.Does != EndOfThread || w.Detail != "") {
			t.Errorf("%s: %q, owner %d, lock %v", name, got, owner, w.Lock)
		}
	}
}

func TestHandled(t *testing.T) {
	const sp = 0x1000
	frame := func(before uint64, info uint32) map[uint64][]byte {
		b := make([]byte, 400)
		binary.LittleEndian.PutUint64(b[signalMask:], before)
		binary.LittleEndian.PutUint32(b[signalInfo:], info)
		return map[uint64][]byte{sp: b}
	}
	const usr1, alrm, usr2 = 1 << 9, 1 << 13, 1 << 11
	for name, c := range map[string]struct {
		memory          map[uint64][]byte
		blocked, caught uint64
		want            int
	}{
		"one":                 {frame(0, 0), usr1, usr1 | alrm, 10},
		"one was blocked":     {frame(alrm, 0), usr1 | alrm, usr1 | alrm, 10},
		"others, told":        {frame(0, 14), usr1 | alrm, usr1 | alrm, 14},
		"others, not told":    {frame(0, 99), usr1 | alrm, usr1 | alrm, 0},
		"told something else": {frame(0, 12), usr1 | alrm, usr1 | alrm | usr2, 0},
		"none":                {frame(usr1, 10), usr1, usr1, 0},
		"not read":            {nil, usr1, usr1, 0},
	} {
		if got := Handled(&fake{memory: c.memory}, sp, c.blocked, c.caught); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// FuzzOf describes calls with any numbers, arguments and memory.
func FuzzOf(f *testing.F) {
	for n := range calls {
		f.Add(n, uint64(0x1000), uint64(0x1000), uint64(3), uint64(0x1010), []byte("/tmp/x\x00\x01"))
	}
	f.Fuzz(func(t *testing.T, number int, a, b, c, d uint64, memory []byte) {
		p := &fake{memory: map[uint64][]byte{0x1000: memory}, files: map[int]string{0: "pipe:[1]", 3: "/x"}, directory: "/w"}
		w := Of(Call{number, [6]uint64{a, b, c, d}}, p)
		if len(w.Does) > 4000 || w.Left < 0 {
			t.Errorf("%v", w)
		}
		futex := Futex{Call: Call{FutexCall, [6]uint64{a, b, c, d}}, Memory: memory, Functions: []string{string(memory)}, Exists: func(tid int) bool { return tid == int(a) }}
		futex.Of()
		Handled(p, a, b, c)
	})
}
