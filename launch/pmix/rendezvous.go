// Addresses of PMIx servers, and the files that hold them.

package pmix

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// URI is the address of a server. Any process that knows it may connect, on some servers as any
// user, so no message, log or error contains it: all formats print a placeholder.
type URI struct{ text string }

// NewURI returns an address.
func NewURI(text string) URI { return URI{text} }

// Reveal returns the address itself.
func (u URI) Reveal() string { return u.text }

// Format implements fmt.Formatter.
func (u URI) Format(f fmt.State, _ rune) { f.Write([]byte("(address not shown)")) }

// MarshalText implements encoding.TextMarshaler.
func (u URI) MarshalText() ([]byte, error) { return fmt.Append(nil, u), nil }

// Namespace returns the namespace of the server, which is the start of the address: "NS.RANK;tcp…".
func (u URI) Namespace() string {
	name, _ := u.name()
	return name
}

// Rank returns the number of the process among the processes of the server: 0 on its first node.
func (u URI) Rank() int {
	_, rank := u.name()
	n, _ := strconv.Atoi(rank)
	return n
}

func (u URI) name() (nspace, rank string) {
	name, _, _ := strings.Cut(u.text, ";")
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", ""
	}
	return name[:at], name[at+1:]
}

// Rendezvous is the content of a rendezvous file, by which a server tells tools where it is. The
// file has five lines: URI, version of libpmix, process id, UID:GID, date of the start. Old
// servers leave out the last ones. Source: OpenPMIx 4.2.2 to 6.1.0, ptl_base_listener.c.
type Rendezvous struct {
	File    string
	URI     URI
	Version Version // zero: the file has none
	PID     int     // 0: the file has none
	UID     int     // -1: the file has none
}

// maxFile is the limit of a rendezvous file in bytes. Real ones have some 200 for each network.
const maxFile = 16 << 10

// ParseRendezvous reads the content of a rendezvous file that is not trusted.
func ParseRendezvous(text string) (Rendezvous, error) {
	r := Rendezvous{UID: -1}
	if len(text) > maxFile {
		return r, fmt.Errorf("longer than %d bytes", maxFile)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	r.URI = NewURI(strings.TrimSpace(lines[0]))
	if r.URI.Namespace() == "" || strings.ContainsAny(r.URI.text, " \t\x00") {
		return r, errors.New("the first line is no address of a server")
	}
	rest := append(lines[1:], "", "", "")
	return r, errors.Join(r.readVersion(rest[0]), r.readPID(rest[1]), r.readOwner(rest[2]))
}

func (r *Rendezvous) readVersion(line string) (err error) {
	if line = strings.TrimSpace(line); line != "" {
		r.Version, err = ParseVersion(line)
	}
	return err
}

func (r *Rendezvous) readPID(line string) (err error) {
	if line = strings.TrimSpace(line); line == "" {
		return nil
	}
	if r.PID, err = strconv.Atoi(line); err != nil || r.PID <= 0 {
		r.PID = 0
		return fmt.Errorf("%q is not a process id", line)
	}
	return nil
}

func (r *Rendezvous) readOwner(line string) (err error) {
	uid, _, _ := strings.Cut(strings.TrimSpace(line), ":")
	if uid == "" {
		return nil
	}
	if r.UID, err = strconv.Atoi(uid); err != nil || r.UID < 0 {
		r.UID = -1
		return fmt.Errorf("%q is not an owner", line)
	}
	return nil
}
