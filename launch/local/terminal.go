// A pseudo terminal as the standard streams of a rank.

package local

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ttyStreams gives the rank a pseudo terminal (pty(7)) as standard output and error, and as
// standard input if stdin is set: for programs that behave differently at a terminal. The two
// outputs are one stream then. Echo and output processing (carriage returns) are off, so that
// output arrives as the rank writes it.
func ttyStreams(stdin bool) (*streams, error) {
	s := &streams{child: [3]int{-1, -1, -1}}
	err := s.openTTY(stdin)
	if err != nil {
		s.closeAll()
		return nil, fmt.Errorf("no pseudo terminal: %w", err)
	}
	return s, nil
}

func (s *streams) openTTY(stdin bool) error {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	s.stdout = os.NewFile(uintptr(master), "terminal of a rank")
	slave, err := slaveOf(master)
	if err != nil {
		return err
	}
	s.child[1] = slave
	if s.child[2], err = duplicate(slave); err != nil {
		return err
	}
	if !stdin {
		s.child[0], err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	}
	if s.child[0], err = duplicate(slave); err != nil {
		return err
	}
	again, err := duplicate(master)
	if err == nil {
		s.stdin = ttyInput{os.NewFile(uintptr(again), "keys of a rank")}
	}
	return err
}

func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3) }

// slaveOf opens the slave of the pseudo terminal and sets its modes and size.
func slaveOf(master int) (int, error) {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, err
	}
	slave, err := unix.Open(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	mode, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err == nil {
		mode.Oflag &^= unix.OPOST
		mode.Lflag &^= unix.ECHO
		err = errors.Join(unix.IoctlSetTermios(slave, unix.TCSETS, mode),
			unix.IoctlSetWinsize(slave, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	}
	if err != nil {
		unix.Close(slave)
		return -1, err
	}
	return slave, nil
}

// ttyInput is the standard input of a rank at a terminal. A terminal reports end of file for a
// Ctrl-D after a newline. Of the two Ctrl-D the first ends a partial line.
type ttyInput struct{ *os.File }

const ctrlD = 4

func (t ttyInput) Close() error {
	t.File.Write([]byte{ctrlD, ctrlD}) // non-blocking; an error is ignored, the rank may have ended
	return t.File.Close()
}
