package local

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Slots of one session meet; slots of another session do not.
func TestSlotsMeet(t *testing.T) {
	key := [32]byte{1, byte(os.Getpid()), byte(os.Getpid() >> 8)} // differs in other runs
	host, conn, err := JoinNode(t.Context(), key)
	if err != nil || host == nil || conn != nil {
		t.Fatalf("the first slot: %v", err)
	}
	defer host.Close()
	_, second, err := JoinNode(t.Context(), key)
	if err != nil || second == nil {
		t.Fatalf("the second slot: %v", err)
	}
	second.Close()
	key[0]++
	other, conn, err := JoinNode(t.Context(), key)
	if err != nil || other == nil || conn != nil {
		t.Fatalf("a slot of another session: %v", err)
	}
	other.Close()
}

// squat binds an address as another user; it listens there if listens is set. The thread with that
// user id ends with its goroutine.
func squat(t *testing.T, name string, listens bool) {
	t.Helper()
	bound := make(chan error, 1)
	fds := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		const nobody = 65534
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			bound <- errno
			return
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			fds <- fd
			err = unix.Bind(fd, &unix.SockaddrUnix{Name: name})
		}
		if err == nil && listens {
			err = unix.Listen(fd, 1)
		}
		bound <- err
	}()
	if err := <-bound; err != nil {
		t.Fatal(err)
	}
	fd := <-fds
	t.Cleanup(func() { unix.Close(fd) })
}

// An address that another user holds is skipped, whether that user listens there or not.
func TestSquatterIsPassedBy(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	for i, does := range []string{"listens", "is deaf"} {
		t.Run(does, func(t *testing.T) {
			key := [32]byte{2, byte(os.Getpid()), byte(os.Getpid() >> 8), byte(i)}
			squat(t, nodeSocket(key, 0).Name, does == "listens")
			host, _, err := JoinNode(t.Context(), key)
			if err != nil || host == nil {
				t.Fatalf("the first slot: %v", err)
			}
			defer host.Close()
			_, conn, err := JoinNode(t.Context(), key)
			if err != nil {
				t.Fatalf("the second slot: %v", err)
			}
			conn.Close()
		})
	}
}
