package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
)

// Copy is the copy of an sdm program on each node. Another tool makes it, or the line of LineFrom.
type Copy struct {
	Path string // path on the nodes
	Hash string // SHA-256 that the copy must have, in hexadecimal
}

// CopyOf returns the path of a session's copy of a program below a directory; text is the contents
// of the program's file.
func CopyOf(text []byte, program, dir, session string) Copy {
	sum := sha256.Sum256(text)
	return Copy{filepath.Join(dir, filepath.Base(program)+"-"+clean(session)), hex.EncodeToString(sum[:])}
}

// The lines for a POSIX shell: $f is the copy, $h its hash, $s the shared program.
const (
	words = `f=$1 h=$2 s=$3; shift 3; `
	// take reads %d bytes from a descriptor into the copy, which must not exist yet. If the copy
	// cannot be made it reads and drops them. Hosts may share the directory, so the name of the
	// copy gets the process id.
	take = `f=$f-$$; head -c %d <&%d | { (umask 077; set -C; exec cat >"$f") 2>/dev/null || cat >/dev/null; }; chmod 700 "$f" 2>/dev/null; `
	// own gives this host a name of its own for the copy. Where hosts share the directory, the first server removes
	// the common one.
	own = `if ln "$f" "$f-$$" 2>/dev/null; then rm -f "$f"; f=$f-$$; fi; `
	// prefer runs a copy that has the right hash and can be run; otherwise the shared program,
	// which reports what is wrong with the directory.
	prefer = `if [ "$({ sha256sum <"$f"; } 2>/dev/null)" = "$h  -" ] && "$f" --version >/dev/null 2>&1; then exec "$f" --staged "$f" "$@"; fi; rm -f "$f"; exec "$s" "$@"`
)

// Line returns a command line that runs server from the copy, if the copy is there.
func (c Copy) Line(server []string) []string { return c.line(words+own+prefer, server) }

// LineFrom is like Line for a node where the program is the first size bytes that can be read from
// descriptor fd: it makes the copy first. Bytes that follow are left in the descriptor.
func (c Copy) LineFrom(fd, size int, server []string) []string {
	return c.line(words+fmt.Sprintf(take, size, fd)+prefer, server)
}

func (c Copy) line(text string, server []string) []string {
	return append([]string{"/bin/sh", "-c", text, "sh", c.Path, c.Hash}, server...)
}
