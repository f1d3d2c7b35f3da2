package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
)

// Copy is a program of ours as it is to stand on each node, brought there by others.
type Copy struct {
	Path string // on the nodes
	Hash string // SHA-256 that it must have, in hexadecimal
}

// CopyOf says where in a directory the copy of a program stands for a session; text is
// what is in its file.
func CopyOf(text []byte, program, dir, session string) Copy {
	sum := sha256.Sum256(text)
	return Copy{filepath.Join(dir, filepath.Base(program)+"-"+clean(session)), hex.EncodeToString(sum[:])}
}

// The lines for a POSIX shell: $f is the copy, $h its hash, $s the shared program.
const (
	words = `f=$1 h=$2 s=$3; shift 3; `
	// take reads so many bytes from a descriptor into the copy, which must not be there
	// before; also when that fails it reads them all. Hosts may have the directory in
	// common, so the copy gets a name of this process.
	take = `f=$f-$$; head -c %d <&%d | { (umask 077; set -C; exec cat >"$f") 2>/dev/null || cat >/dev/null; }; chmod 700 "$f" 2>/dev/null; `
	// prefer runs a copy that is what it should be and can be run; otherwise the shared
	// program, which says what is wrong with the directory.
	prefer = `if [ "$({ sha256sum <"$f"; } 2>/dev/null)" = "$h  -" ] && "$f" --version >/dev/null 2>&1; then exec "$f" --staged "$f" "$@"; fi; rm -f "$f"; exec "$s" "$@"`
)

// Line is a command line that runs server from the copy, if that has been made.
func (c Copy) Line(server []string) []string { return c.line(words+prefer, server) }

// LineFrom is Line on a node where the program is the first size bytes that can be
// read from a descriptor: it makes the copy first. What follows them stays there.
func (c Copy) LineFrom(fd, size int, server []string) []string {
	return c.line(words+fmt.Sprintf(take, size, fd)+prefer, server)
}

func (c Copy) line(text string, server []string) []string {
	return append([]string{"/bin/sh", "-c", text, "sh", c.Path, c.Hash}, server...)
}
