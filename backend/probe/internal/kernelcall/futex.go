// Futexes: mutexes and other objects of threads.

package kernelcall

import (
	"encoding/binary"
	"slices"
	"strings"
)

// FutexCall is the number of futex(2).
const FutexCall = 202

// Futex is a thread that waits in futex(2).
type Futex struct {
	Call
	// Memory is what begins with the word, as it was while the thread waited; nil: not known.
	Memory []byte
	// Functions are the functions of the thread, innermost first. Those of the C library are followed by
	// " from " and the name of its file.
	Functions []string
	// Exists reports whether there is a thread with an ID as the process knows it.
	Exists func(tid int) bool
	// Described is the ID, as the process knows it, of the thread in whose descriptor (DescriptorSize) the word
	// is; 0: it is in none.
	Described int
}

// DescriptorSize is the size in bytes of what glibc keeps of a thread, from its thread pointer on (x86-64, struct
// pthread).
const DescriptorSize = 2304

// FutexSize is the size of Futex.Memory that is looked at.
const FutexSize = 24

// Shared reports whether the object may be shared with other processes.
func (f *Futex) Shared() bool { return f.Args[1]&private == 0 }

// Bits of the operation and of the word (futex(2)).
const (
	private  = 128
	command  = 0x7f
	lockPI   = 6
	lockPI2  = 13
	tidMask  = 1<<30 - 1
	anyWaits = 1 << 31
)

// Offsets in objects of the C library glibc from 2.25 on, on x86-64 (struct __pthread_mutex_s and
// __pthread_rwlock_arch_t in sysdeps/x86/nptl).
const (
	mutexOwner = 8  // of a mutex, which begins with the word
	writer     = 24 // of a lock for readers and writers; its words are at 8 and 12
	waitPhase  = 8
	waitWriter = 12
)

// EndOfThread is the Wait.Does of a thread that waits for the end of another one.
const EndOfThread = "waits for the end of a thread"

// object is a kind of object of threads, with the functions that wait for it.
type object struct {
	does      string
	kind      objectKind
	functions []string
}

type objectKind uint8

const (
	other objectKind = iota
	mutex
	readerLock
	end
)

var objects = []object{
	{"waits for a mutex", mutex, []string{"pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_mutex_cond_lock", "mtx_lock", "mtx_timedlock"}},
	{"waits for a lock for reading", readerLock, []string{"pthread_rwlock_rdlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_clockrdlock"}},
	{"waits for a lock for writing", readerLock, []string{"pthread_rwlock_wrlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockwrlock"}},
	{EndOfThread, end, []string{"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_clockjoin_ex", "thrd_join"}},
	{"waits for a condition variable", other, []string{"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait"}},
	{"waits for a semaphore", other, []string{"sem_wait", "sem_timedwait", "sem_clockwait"}},
	{"waits in a barrier of threads", other, []string{"pthread_barrier_wait"}},
	{"waits until a variable has been initialized", other, []string{"pthread_once", "call_once", "__cxa_guard_acquire"}},
	{"waits for the lock of a stream", other, []string{"flockfile", "fflush", "fwrite", "printf", "vfprintf", "puts", "fputs", "fclose"}},
	{"waits for the lock of malloc", other, []string{"malloc", "free", "realloc", "calloc"}},
}

// Of returns what the thread waits for, and the ID of the thread, as the process knows it, that can end the wait; 0:
// not known. It is the owner of a lock if Wait.Lock.
func (f *Futex) Of() (w Wait, tid int) {
	x := f.object()
	switch {
	case x == nil && f.isInherited():
		x = &objects[0]
	case x == nil && (f.isOfThread() || f.isOfDescriptor()):
		x = &object{EndOfThread, end, nil}
	}
	if x == nil {
		return Wait{Does: "waits for another thread"}, 0
	}
	w.Does = x.does
	switch x.kind {
	case mutex:
		if tid = f.owner(); tid == 0 {
			tid = f.thread(mutexOwner)
		}
		w.Lock = tid != 0
		if f.hasLost() {
			w.Lock, w.Detail = true, "the thread that has locked it has ended, or has stayed in the parent at a fork"
		}
	case readerLock:
		tid = f.writer()
		w.Lock = tid != 0
	case end:
		if f.isOfDescriptor() {
			tid = f.Described
		} else if f.isOfThread() {
			tid = f.thread(0)
		}
	}
	return w, tid
}

// object returns the object that the functions of the C library wait for; nil: it is not known. In a static program
// they are functions of the program. In others, a function of the program may have the same name, but not be one.
func (f *Futex) object() *object {
	for i, name := range f.Functions {
		if i > 0 && IsC(f.Functions[0]) && !IsC(name) && !strings.HasPrefix(name, "??") {
			return nil
		}
		if bare := Bare(name); bare != "" {
			for i := range objects {
				if slices.Contains(objects[i].functions, bare) {
					return &objects[i]
				}
			}
		}
		if !IsC(name) && !strings.HasPrefix(name, "??") && !strings.Contains(name, "lll_lock") && !strings.Contains(name, "futex") {
			return nil
		}
	}
	return nil
}

// Bare returns the name of a function of the C library without decorations: "pthread_mutex_lock" for
// "__pthread_mutex_lock@@GLIBC_2.2.5 from libc.so.6".
func Bare(frame string) string {
	name, _, _ := strings.Cut(frame, " ")
	name, _, _ = strings.Cut(name, "@")
	if name == "__cxa_guard_acquire" {
		return name
	}
	name = strings.TrimPrefix(strings.TrimLeft(name, "_"), "GI_")
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimLeft(name, "_"), "64"), "_nocancel")
}

// IsC reports whether a frame is of the C library or its libraries of threads.
func IsC(frame string) bool {
	_, from, _ := strings.Cut(frame, " from ")
	for _, prefix := range []string{"libc.", "libc-", "libpthread", "ld-musl", "ld-linux", "libstdc++"} {
		if strings.HasPrefix(from, prefix) {
			return true
		}
	}
	return false
}

// word returns the 32 bits at an offset from the word; 0: not known.
func (f *Futex) word(offset int) uint32 {
	if offset+4 <= len(f.Memory) {
		return binary.LittleEndian.Uint32(f.Memory[offset:])
	}
	return 0
}

// thread returns the 32 bits at an offset from the word if they are the ID of a thread; otherwise 0.
func (f *Futex) thread(offset int) int {
	if v := int(f.word(offset) & tidMask); v != 0 && f.Exists(v) {
		return v
	}
	return 0
}

// owner returns the thread in the word itself: the kernel (LOCK_PI), robust mutexes and the C library musl have it
// there, with a bit that says that others wait. Normal mutexes of musl have a constant in place of the thread.
func (f *Futex) owner() int {
	const busy = 16 // EBUSY
	if !f.isInherited() && (f.word(0)&anyWaits == 0 || f.word(0) == anyWaits|busy) {
		return 0
	}
	return f.thread(0)
}

// isOfThread reports whether the word is the ID of a thread, and the wait is for its change: the kernel clears it, for
// waits that may be shared, when the thread ends (set_tid_address(2)). The C library musl waits for another word, which
// is private.
func (f *Futex) isOfThread() bool {
	return f.Shared() && f.word(0) == uint32(f.Args[2]) && f.thread(0) == int(f.word(0))
}

// isOfDescriptor reports whether the word is in the descriptor of a thread, and may be shared: the kernel wakes the
// threads that wait for it when the thread ends. From glibc 2.43 on it is a state in place of the ID.
func (f *Futex) isOfDescriptor() bool { return f.Described != 0 && f.Shared() }

// hasLost reports whether a mutex of glibc is locked by a thread that the process does not have: it has ended, or it is
// one of the parent, which had the lock when it made this process by fork. For a futex that processes share the owner
// is not known: the ID may belong to another namespace.
func (f *Futex) hasLost() bool {
	const locked, maxTID = 2, 1 << 22 // a locked mutex for which threads wait; the highest ID (proc(5), pid_max)
	owner := f.word(mutexOwner)
	glibc := slices.ContainsFunc(f.Functions, func(s string) bool {
		return strings.HasSuffix(s, " from libc.so.6") || strings.Contains(s, " from libpthread")
	})
	return glibc && !f.Shared() && f.word(0) == locked && owner != 0 && owner <= maxTID && !f.Exists(int(owner))
}

// isInherited reports whether the kernel itself knows the owner, since the owner inherits the priority of the
// threads that wait.
func (f *Futex) isInherited() bool {
	return f.Args[1]&command == lockPI || f.Args[1]&command == lockPI2
}

// writer returns the thread that has locked a lock for writing. Which of the two words of the lock it is, is not known:
// if both would name a thread, none is returned.
func (f *Futex) writer() int {
	a, b := f.thread(writer-waitPhase), f.thread(writer-waitWriter)
	if a != 0 && b != 0 && a != b {
		return 0
	}
	return max(a, b)
}
