// Calls of functions of other images.

package emulator

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// link is a function that the dynamic linker binds, and the slot in which its address is stored.
type link struct {
	name string
	slot uint64
}

// enter continues at an address after a call or jump to it.
func (m *Machine) enter(to uint64, isCall bool) {
	l, known := m.links[to]
	if !known {
		l = m.linkAt(to)
		m.links[to] = l
	}
	m.enterLink(l, to, isCall)
}

// enterLink continues at the function of a link, or at the address to if l is nil. It carries out the functions
// in answers itself, since the C library's own use instructions that the machine does not know.
func (m *Machine) enterLink(l *link, to uint64, isCall bool) {
	if l != nil {
		if slices.Contains(m.until, l.name) {
			m.passed, m.err = Passed{Name: l.name}, errReached
			for n, reg := range amd64.Arguments {
				m.passed.Args[n] = m.reg[reg]
			}
			return
		}
		if answer := answers[l.name]; answer != nil {
			m.reg[amd64.RAX] = answer(m, func(n int) uint64 { return m.argument(n, isCall) })
			if !isCall {
				m.pc = m.pop()
			}
			return
		}
		if slices.Contains(complaints, l.name) {
			m.fail("calls %s", l.name)
			return
		}
		to = m.bound(l)
	}
	if isCall {
		m.push(m.pc)
	}
	m.pc = to
}

// argument returns an argument of a function by its number; those from 6 on are on the stack, above the return address
// unless a call has not stored that yet (System V ABI, AMD64, 3.2.3).
func (m *Machine) argument(n int, isCall bool) uint64 {
	if n < len(amd64.Arguments) {
		return m.reg[amd64.Arguments[n]]
	}
	at := m.reg[amd64.RSP] + 8*uint64(n-len(amd64.Arguments))
	if !isCall {
		at += 8
	}
	return m.load(at, 8)
}

// linkOf returns the link of a slot; nil: there is none, or ok is false.
func (m *Machine) linkOf(slot uint64, ok bool) *link {
	if name := m.process.Link(slot); ok && name != "" {
		return &link{name, slot}
	}
	return nil
}

// linkAt returns the link through which the code at an address jumps; nil: the code is not such a stub.
func (m *Machine) linkAt(at uint64) *link {
	_, slot, ok := amd64.Jump(m, at)
	return m.linkOf(slot, ok && slot != 0)
}

// bound returns the address of the function of a link: the one that is stored in its slot, unless the dynamic
// linker has not bound it yet.
func (m *Machine) bound(l *link) uint64 {
	to, ok := m.Uint(l.slot, 8)
	if ok && !m.isLinker(to) {
		return to
	}
	return m.process.Function(l.name)
}

// isLinker reports whether the code at an address calls the dynamic linker to bind a link: it begins with a
// push of the number of the link.
func (m *Machine) isLinker(at uint64) bool {
	for range 2 { // ENDBR64 and the push
		i := amd64.At(m, at)
		switch {
		case i == nil:
			return false
		case i.Op == x86asm.PUSH:
			_, constant := i.Args[0].(x86asm.Imm)
			return constant
		}
		at = i.Next()
	}
	return false
}

// complaints are functions that are called after errors: their call ends the execution.
var complaints = []string{"__stack_chk_fail", "abort", "exit", "__assert_fail", "MPIR_Err_create_code", "ompi_errhandler_invoke", "ompi_mpi_errors_are_fatal_comm_handler"}

// answer carries out a function of the C library: it returns the result; arg returns an argument by its number.
type answer func(m *Machine, arg func(int) uint64) uint64

// answers are the functions that the machine carries out itself.
var answers = map[string]answer{
	"pthread_mutex_lock": lock, "pthread_mutex_trylock": lock, "pthread_spin_lock": lock,
	"pthread_mutex_unlock": nothing, "pthread_spin_unlock": nothing, "pthread_mutex_init": nothing, "pthread_mutex_destroy": nothing,
	"free": nothing, "sched_yield": nothing,
	"pthread_self": self,
	"malloc":       func(m *Machine, arg func(int) uint64) uint64 { return m.allocate(arg(0)) },
	"calloc":       func(m *Machine, arg func(int) uint64) uint64 { return m.allocate(arg(0) * arg(1)) },
	"realloc":      reallocate,
	"strlen":       func(m *Machine, arg func(int) uint64) uint64 { return m.length(arg(0), maxString) },
	"strnlen":      func(m *Machine, arg func(int) uint64) uint64 { return m.length(arg(0), arg(1)) },
	"memcpy":       copyMemory, "memmove": copyMemory, "__memcpy_chk": copyMemory, "__memmove_chk": copyMemory,
	"memset": fill, "__memset_chk": fill,
	"strncpy": copyText, "__strncpy_chk": copyText,
	"strcpy":         func(m *Machine, arg func(int) uint64) uint64 { return m.copyText(arg(0), arg(1), maxText) },
	"__strcpy_chk":   func(m *Machine, arg func(int) uint64) uint64 { return m.copyText(arg(0), arg(1), maxText) },
	"__tls_get_addr": threadLocal,
	"snprintf":       func(m *Machine, arg func(int) uint64) uint64 { return m.print(arg, 2) },
	"__snprintf_chk": func(m *Machine, arg func(int) uint64) uint64 { return m.print(arg, 4) },
}

// maxPrinted bounds what a function prints, in bytes.
const maxPrinted = 1 << 14

// print carries out snprintf: arguments 0 and 1 are the text and its size, and argument format is the format, which may
// have texts, characters and numbers without a width.
func (m *Machine) print(arg func(int) uint64, format int) uint64 {
	f, next := m.Text(arg(format)), format
	var text []byte
	for i := 0; i < len(f) && len(text) < maxPrinted && m.err == nil; i++ {
		if f[i] != '%' {
			text = append(text, f[i])
			continue
		}
		wide := false
		for i++; i < len(f) && strings.IndexByte("lzj", f[i]) >= 0; i++ {
			wide = true
		}
		if i == len(f) {
			break
		}
		if f[i] == '%' {
			text = append(text, '%')
			continue
		}
		next++
		v := arg(next)
		if !wide {
			v = uint64(uint32(v))
		}
		switch {
		case f[i] == 's':
			text = append(text, m.Text(arg(next))...)
		case f[i] == 'c':
			text = append(text, byte(v))
		case f[i] == 'u':
			text = strconv.AppendUint(text, v, 10)
		case f[i] == 'x':
			text = strconv.AppendUint(text, v, 16)
		case (f[i] == 'd' || f[i] == 'i') && wide:
			text = strconv.AppendInt(text, int64(v), 10)
		case f[i] == 'd' || f[i] == 'i':
			text = strconv.AppendInt(text, int64(int32(v)), 10)
		default:
			m.fail("prints in the format %q", f)
		}
	}
	if size := arg(1); size > 0 && m.err == nil {
		m.write(arg(0), append(slices.Clone(text[:min(uint64(len(text)), size-1)]), 0))
	}
	m.work -= len(f) + len(text)
	return uint64(len(text))
}

func nothing(*Machine, func(int) uint64) uint64 { return 0 }

// lock locks a mutex, which always succeeds. With ForgetLocks it clears the owner and the depth that MPICH
// stores after its mutex (MPID_Thread_mutex_t).
func lock(m *Machine, arg func(int) uint64) uint64 {
	if m.ForgetLocks {
		m.PutUint(arg(0)+40, 0, 8)
		m.PutUint(arg(0)+48, 0, 4)
	}
	return 0
}

// self returns the thread; with ForgetLocks, an address that is the owner of no lock.
func self(m *Machine, _ func(int) uint64) uint64 {
	if m.ForgetLocks {
		return heap
	}
	return m.Thread
}

// spend counts work with a number of bytes. If it is more than maxBytes, it ends the call and returns false.
func (m *Machine) spend(does string, bytes uint64) bool {
	const each = 64 // bytes that take as long as an instruction
	if bytes > maxBytes {
		m.fail("%s %d bytes", does, bytes)
		return false
	}
	m.work -= int(bytes / each)
	return true
}

func (m *Machine) allocate(size uint64) uint64 {
	if !m.spend("allocates", size) {
		return 0
	}
	return m.Alloc(int(size))
}

func reallocate(m *Machine, arg func(int) uint64) uint64 {
	to := m.allocate(arg(1))
	if arg(0) != 0 && to != 0 {
		b := make([]byte, min(arg(1), maxBytes))
		for len(b) > 0 && !m.Read(arg(0), b) { // the old block may be smaller, and nothing follows it
			b = b[:len(b)/2]
		}
		m.write(to, b)
	}
	return to
}

// maxString bounds a text whose length is asked for, in bytes.
const maxString = 1 << 16

func (m *Machine) length(text, most uint64) uint64 {
	n := uint64(0)
	for n < min(most, maxString) && m.load(text+n, 1) != 0 && m.err == nil {
		n++
	}
	m.work -= int(n)
	return n
}

func copyMemory(m *Machine, arg func(int) uint64) uint64 {
	if !m.spend("copies", arg(2)) {
		return 0
	}
	b := make([]byte, arg(2))
	if m.read(arg(1), b) {
		m.write(arg(0), b)
	}
	return arg(0)
}

func fill(m *Machine, arg func(int) uint64) uint64 {
	if !m.spend("sets", arg(2)) {
		return 0
	}
	m.write(arg(0), slices.Repeat([]byte{byte(arg(1))}, int(arg(2))))
	return arg(0)
}

func copyText(m *Machine, arg func(int) uint64) uint64 { return m.copyText(arg(0), arg(1), arg(2)) }

func (m *Machine) copyText(to, from, most uint64) uint64 {
	for n := range min(most, maxText) {
		m.work--
		c := m.load(from+n, 1)
		m.PutUint(to+n, c, 1)
		if c == 0 || m.err != nil {
			break
		}
	}
	return to
}

// threadLocal returns the address of a thread-local variable: the dynamic thread vector of the thread has the
// block of its module (ELF Handling For Thread-Local Storage, 3.4).
func threadLocal(m *Machine, arg func(int) uint64) uint64 {
	vector := m.load(m.Thread+8, 8)
	module, offset := m.load(arg(0), 8), m.load(arg(0)+8, 8)
	block := m.load(vector+module*16, 8)
	if block == ^uint64(0) {
		m.fail("thread without the block of module %d", module)
	}
	return block + offset
}
