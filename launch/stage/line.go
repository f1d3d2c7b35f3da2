// Command lines for a POSIX shell that run a copied program.

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

// CopyOf returns a session's copy of a program in a directory; text is the contents of the program's
// file, and name what Name returns.
func CopyOf(text []byte, dir, name string) Copy {
	sum := sha256.Sum256(text)
	return Copy{filepath.Join(dir, name), hex.EncodeToString(sum[:])}
}

// Descriptors that the lines may use; the remote shell's input has the first.
const firstFD, lastFD = 3, 9

// The lines for a POSIX shell: $c is the copy that was brought, $d a directory of ours for it, $f the
// copy in there, $h its hash, $s the shared program. Hosts may share the directory, so $d has the
// process id in its name.
const (
	words = `c=$1 h=$2 s=$3; shift 3; d=$c-$$ f=$c-$$/${s##*/}; `
	// take reads %d bytes from a descriptor into the copy. If the copy cannot be made it reads and
	// drops them.
	take = `head -c %d <&%d | { (umask 077; mkdir "$d" && set -C && exec cat >"$f") 2>/dev/null || cat >/dev/null; }; chmod 700 "$f" 2>/dev/null; `
	// own moves the copy into a directory of this host. Where hosts share the directory, the first
	// server takes it.
	own = `(umask 077; mkdir "$d" && mv -f "$c" "$f" && chmod 700 "$f") 2>/dev/null; `
	// prefer runs a copy that is ours, has the right hash and can be run; otherwise the shared
	// program, which reports what is wrong with the directory. What it looks at is open, in a
	// descriptor that was free, so it runs what it has looked at.
	prefer = `n=9; while [ $n -gt 3 ] && [ -e /proc/self/fd/$n ]; do n=$((n-1)); done; p=/proc/self/fd/$n; ` +
		`if [ ! -e $p ] && [ -f "$f" ] && eval 'command exec '$n'<"$f"' 2>/dev/null; then ` +
		`if [ -O $p ] && [ "$({ sha256sum <$p; } 2>/dev/null)" = "$h  -" ] && $p --version >/dev/null 2>&1; then exec $p --staged "$f" "$@"; fi; ` +
		`eval "exec $n<&-"; fi; rm -f "$f" 2>/dev/null; rmdir "$d" 2>/dev/null; exec "$s" "$@"`
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
