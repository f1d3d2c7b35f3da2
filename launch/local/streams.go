// Standard streams of a rank that is being started.

package local

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// streams are the standard streams of a rank that is being started: the child's ends as
// descriptors, this process's ends as files.
type streams struct {
	child          [3]int
	own            bool // child has descriptors 0, 1, 2 of this process, which stay open
	stdin          io.WriteCloser
	stdout, stderr *os.File
}

// openStreams makes the streams. The ends of this process are non-blocking (for Go's poller); the
// child's ends block, as programs expect.
func openStreams(spec Spec) (*streams, error) {
	if spec.Through {
		return throughStreams(spec.Stdin)
	}
	if spec.TTY {
		return ttyStreams(spec.Stdin)
	}
	s := &streams{child: [3]int{-1, -1, -1}}
	err := s.openStdin(spec.Stdin)
	if err == nil {
		s.stdout, s.child[1], err = outPipe("stdout")
	}
	if err == nil {
		s.stderr, s.child[2], err = outPipe("stderr")
	}
	if err != nil {
		s.closeAll()
		return nil, err
	}
	return s, nil
}

// throughStreams passes on the streams of this process. Without stdin the rank reads from
// /dev/null.
func throughStreams(stdin bool) (*streams, error) {
	s := &streams{child: [3]int{0, 1, 2}, own: true}
	if stdin {
		return s, nil
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	s.child[0] = null
	return s, err
}

func (s *streams) openStdin(pipe bool) error {
	if !pipe {
		null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		s.child[0] = null
		return err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	s.child[0] = p[0]
	if err := unix.SetNonblock(p[1], true); err != nil {
		unix.Close(p[1])
		return err
	}
	s.stdin = os.NewFile(uintptr(p[1]), "stdin of a rank")
	return nil
}

func outPipe(name string) (ours *os.File, child int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	if err := unix.SetNonblock(p[0], true); err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return nil, -1, err
	}
	return os.NewFile(uintptr(p[0]), name+" of a rank"), p[1], nil
}

// closeChild closes the child's ends, except those that are streams of this process.
func (s *streams) closeChild() {
	for i, fd := range s.child {
		if fd > 2 || fd >= 0 && !s.own {
			unix.Close(fd)
		}
		s.child[i] = -1
	}
}

func (s *streams) closeParent() {
	if s.stdin != nil {
		s.stdin.Close()
	}
	if s.stdout != nil {
		s.stdout.Close()
	}
	if s.stderr != nil {
		s.stderr.Close()
	}
}

func (s *streams) closeAll() {
	s.closeChild()
	s.closeParent()
}
