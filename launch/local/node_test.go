package local

import (
	"context"
	"net"
	"os"
	"runtime"
	"strings"
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
func TestAddressOfAnotherUserIsSkipped(t *testing.T) {
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

// A packet that is too long is not sent: the peer would get a part of it.
func TestLongPacket(t *testing.T) {
	here, there := connected(t, 3)
	if err := here.SetWriteBuffer(4 * maxMessage); err != nil { // so that the kernel would take it
		t.Fatal(err)
	}
	if err := send(here, message{Kind: "hold", Text: strings.Repeat("x", maxMessage)}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long packet: %v", err)
	}
	if err := send(here, message{Kind: "quit"}); err != nil {
		t.Fatal(err)
	}
	if m, _, err := receive(there, make([]byte, maxMessage)); err != nil || m.Kind != "quit" {
		t.Errorf("the packet after it: %+v, %v", m, err)
	}
}

// connected returns the two ends of a connection of two slots.
func connected(t *testing.T, number byte) (here, there *net.UnixConn) {
	t.Helper()
	key := [32]byte{number, byte(os.Getpid()), byte(os.Getpid() >> 8)}
	host, _, err := JoinNode(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	_, here, err = JoinNode(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if there, err = host.l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

// A connection that says nothing does not delay the slots that come after it, and is closed.
func TestSilentSlotDelaysNoOther(t *testing.T) {
	key := [32]byte{4, byte(os.Getpid()), byte(os.Getpid() >> 8)}
	host, _, err := JoinNode(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	_, silent, err := JoinNode(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, slot, err := JoinNode(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer slot.Close()
	if err := send(slot, message{Kind: "hello", Rank: 7}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), helloTime/2)
	defer cancel()
	remotes := host.Gather(ctx, 1, func(string) {})
	if len(remotes) != 1 || remotes[0].Rank != 7 || ctx.Err() != nil {
		t.Fatalf("%d slots have come, %v", len(remotes), ctx.Err())
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is open")
	}
	remotes[0].Dismiss()
}
