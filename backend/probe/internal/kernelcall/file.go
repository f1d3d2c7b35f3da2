// Calls about files, pipes, sockets and locks.

package kernelcall

import (
	"encoding/binary"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// atCWD stands for the working directory (openat(2), AT_FDCWD).
const atCWD = -100

// Bounds of texts in bytes: those that are read (limits.h, PATH_MAX), and those that are shown.
const (
	maxPath  = 4096
	maxShown = 200
)

// path reads the path of a call. It returns a text for it, and the path within the root directory of the
// process; "": it cannot be read.
func (a asked) path(addr uint64, dir int) (text, whole string) {
	name := a.text(addr)
	if name == "" {
		return "a file", ""
	}
	if !strings.HasPrefix(name, "/") {
		base := a.Directory()
		if dir != atCWD {
			base = a.File(dir)
		}
		if !strings.HasPrefix(base, "/") {
			return Shown(name), ""
		}
		name = path.Join(base, name)
	}
	return Shown(name), name
}

// text reads a string that ends with a zero, page by page.
func (a asked) text(addr uint64) string {
	const page = 4096
	var all []byte
	for len(all) < maxPath {
		b := make([]byte, page-addr%page)
		if !a.Read(addr, b) {
			return ""
		}
		for i, c := range b {
			if c == 0 {
				return string(append(all, b[:i]...))
			}
		}
		all, addr = append(all, b...), addr+uint64(len(b))
	}
	return ""
}

// Shown returns a name as it is shown: quoted if it has characters that cannot be printed, and cut in the middle if
// it is long.
func Shown(name string) string {
	if len(name) > maxShown {
		name = name[:maxShown/2] + "…" + name[len(name)-maxShown/2:]
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(name)
	}
	return name
}

// file names what a file descriptor refers to.
func (a asked) file(fd int) string { return a.named(fd, a.File(fd)) }

// named names what a file descriptor refers to. link is what File says of it.
func (a asked) named(fd int, link string) string {
	text := ""
	switch {
	case strings.HasPrefix(link, "pipe:"):
		text = "a pipe"
	case strings.HasPrefix(link, "socket:"):
		if text = a.Socket(fd); text == "" {
			text = "a socket"
		}
	case strings.HasPrefix(link, "anon_inode:"):
		text = strings.Trim(strings.TrimPrefix(link, "anon_inode:"), "[]")
	case link == "":
		text = "file descriptor " + strconv.Itoa(fd)
	default:
		text = Shown(link)
	}
	if fd == 0 {
		return "standard input (" + text + ")"
	}
	return text
}

// at returns the wait of a call on something. whole is its path; "": it has none.
func (a asked) at(text, whole string) Wait {
	w := Wait{Does: "waits in " + a.name + " of " + text}
	if a.name == "accept" {
		w.Does = "waits in accept on " + text
	}
	return a.withFileSystem(w, whole)
}

// withFileSystem adds the file system of a path if it is one of other hosts.
func (a asked) withFileSystem(w Wait, whole string) Wait {
	if !strings.HasPrefix(whole, "/") {
		return w
	}
	if fs := a.FileSystem(whole); fs != "" && w.Detail == "" {
		w.Detail = "it is on " + fs
	}
	return w
}

// opens is open(2).
func (a asked) opens(addr uint64, dir int, flags uint64) Wait {
	text, whole := a.path(addr, dir)
	w := a.at(text, whole)
	if whole == "" || !a.IsFIFO(whole) {
		return w
	}
	switch flags & 3 {
	case 0:
		w.Detail = "no process has opened this FIFO for writing"
	case 1:
		w.Detail = "no process has opened this FIFO for reading"
	}
	return w
}

// transfers is a call that reads or writes.
func (a asked) transfers(writes bool) Wait {
	fd := a.fd()
	link := a.File(fd)
	w := a.at(a.named(fd, link), link)
	if !strings.HasPrefix(link, "pipe:") && !(strings.HasPrefix(link, "/") && a.IsFIFO(link)) {
		return w
	}
	others, own, all := a.Ends(link, !writes)
	verb, object := "write to it", "to write to a pipe"
	if writes {
		verb, object = "read from it", "to read from a pipe"
	}
	switch {
	case len(others) == 0 && own && all:
		w.Detail = "only the process itself can " + verb
	case len(others) == 1 && !own && all:
		w.Detail, w.For, w.Object = others[0].String()+" can "+verb, others[0].PID, object
	case len(others) > 0:
		w.Detail = list(others) + " can " + verb
	}
	return w
}

// several is a call that waits for one of several file descriptors.
func (a asked) several(k kind) Wait {
	var fds []int
	all := false // fds are known to be all
	switch k {
	case polls:
		fds, all = a.polled()
	case selects:
		fds, all = a.selected()
	default:
		fds = a.Watched(a.fd())
	}
	switch {
	case len(fds) == 0 && all:
		return Wait{Does: "sleeps"}
	case len(fds) == 0:
		return Wait{Does: "waits in " + a.name}
	}
	var parts []string
	for _, fd := range fds {
		parts = append(parts, a.file(fd))
	}
	return Wait{Does: "waits in " + a.name + " for " + join(parts)}
}

// maxPolled bounds the file descriptors of poll and select.
const maxPolled = 1024

// polled returns the file descriptors of poll(2), and whether they are all.
func (a asked) polled() (fds []int, all bool) {
	b := make([]byte, 8*min(a.Args[1], maxPolled))
	if len(b) > 0 && !a.Read(a.Args[0], b) {
		return nil, false
	}
	for ; len(b) > 0; b = b[8:] {
		if fd := int32(binary.LittleEndian.Uint32(b)); fd >= 0 {
			fds = append(fds, int(fd))
		}
	}
	return fds, a.Args[1] <= maxPolled
}

// selected returns the file descriptors of select(2), and whether they are all.
func (a asked) selected() (fds []int, all bool) {
	n := int(min(a.Args[0], maxPolled))
	all = a.Args[0] <= maxPolled
	in := make([]bool, n)
	for _, addr := range a.Args[1:4] {
		b := make([]byte, (n+63)/64*8)
		if addr == 0 {
			continue
		}
		if !a.Read(addr, b) {
			all = false
			continue
		}
		for fd := range in {
			in[fd] = in[fd] || b[fd/8]>>(fd%8)&1 == 1
		}
	}
	for fd, set := range in {
		if set {
			fds = append(fds, fd)
		}
	}
	return fds, all
}

// locks is flock(2), or a call like it; how tells which.
func (a asked) locks(how string) Wait {
	name := a.file(a.fd())
	w := Wait{Does: "waits for a lock of " + name + how, Lock: true}
	if holder, ok := a.LockHolder(); ok {
		w.Detail, w.For, w.Object = holder.String()+" holds it", holder.PID, "lock of "+name
	}
	return a.withFileSystem(w, a.File(a.fd()))
}

// controls is fcntl(2).
func (a asked) controls() Wait {
	const lock, lockOfFile = 7, 38 // F_SETLKW, F_OFD_SETLKW
	switch a.Args[1] {
	case lock, lockOfFile:
		return a.locks("")
	}
	return a.at(a.file(a.fd()), a.File(a.fd()))
}

// address reads the address of a socket (ip(7), ipv6(7), unix(7)).
func address(mem interface{ Read(uint64, []byte) bool }, addr, size uint64) string {
	const unix, inet, inet6 = 1, 2, 10
	b := make([]byte, min(size, 128))
	if len(b) < 2 || !mem.Read(addr, b) {
		return "an address that is not known"
	}
	port := func() uint16 { return binary.BigEndian.Uint16(b[2:]) }
	switch family := binary.LittleEndian.Uint16(b); {
	case family == unix && len(b) > 2 && b[2] != 0:
		name, _, _ := strings.Cut(string(b[2:]), "\x00")
		return Shown(name)
	case family == inet && len(b) >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port()).String()
	case family == inet6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port()).String()
	}
	return "an address that is not known"
}
