package local

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// A starter starts one of us in the slot of each rank. One server for each node is
// enough: the first that comes is it. The others stand in: they hold their rank
// when they are told to, hand its streams and its process number over, tell how it
// has ended, and keep the slot until the session is over.
//
//	stand-in                       server
//	  | hello: rank, program         |
//	  |----------------------------->|
//	  | hold: arguments, environment |  for each launch
//	  |<-----------------------------|
//	  | held: pid, descriptors       |
//	  |----------------------------->|
//	  | exit: how                    |
//	  |----------------------------->|
//	  | quit                         |  the end of the session
//	  |<-----------------------------|
//
// They meet at a socket with an abstract name (unix(7)), which leaves nothing
// behind. Who is there is asked of the kernel (SO_PEERCRED). The name comes from the
// secret of the session, so that other users cannot bind it beforehand; where one has,
// all slots go on to the next name. It has the namespaces in it: a process in another
// one could not be debugged by its number, or would have other files, and so becomes a
// server of its own.

// slip is a packet between the two.
type slip struct {
	Kind string `json:"kind"` // hello, hold, held, exit, ending, quit
	ID   int    `json:"id,omitempty"`

	Rank    rank.ID                 `json:"rank"`
	PID     int                     `json:"pid,omitempty"`
	Program string                  `json:"program,omitempty"`
	Args    []string                `json:"args,omitempty"`
	Cwd     string                  `json:"cwd,omitempty"`
	Env     []protocol.EnvDirective `json:"env,omitempty"`
	Stdin   bool                    `json:"stdin,omitempty"`
	Through bool                    `json:"through,omitempty"`
	Streams string                  `json:"streams,omitempty"` // which descriptors come along: some of "ioe"
	Fault   *protocol.Fault         `json:"fault,omitempty"`
	Exit    *protocol.Exit          `json:"exit,omitempty"`
	Status  int                     `json:"status,omitempty"` // as a shell gives it
	Text    string                  `json:"text,omitempty"`
}

// maxSlip bounds a packet: what a socket buffer holds by default (socket(7),
// wmem_max), so that no greater one can be sent.
const maxSlip = 256 << 10

// helloTime is how long one who has come may take to say who he is.
const helloTime = 10 * time.Second

// How many names are tried, and how long one may be bound without anybody who listens:
// the server of the node does so at once.
const (
	maxPlaces    = 16
	deafPatience = 2 * time.Second
)

// nodeSocket is the n-th place where the slots of a session may meet on this node.
func nodeSocket(key [32]byte, n int) *net.UnixAddr {
	mac := hmac.New(sha256.New, key[:])
	fmt.Fprintf(mac, "sdm node %d", n)
	name := "@sdm-" + hex.EncodeToString(mac.Sum(nil)[:16])
	for _, ns := range []string{"pid", "mnt", "user"} {
		link, _ := os.Readlink("/proc/self/ns/" + ns)
		name += "-" + link
	}
	return &net.UnixAddr{Name: name, Net: "unixpacket"}
}

// JoinNode makes us the host of the session's slots on this node, if there is none yet,
// or gives the connection to the one that is. The key is that of the session. A name that
// another user holds is passed by.
func JoinNode(ctx context.Context, key [32]byte) (*NodeHost, *net.UnixConn, error) {
	var failures []error
	for n := range maxPlaces {
		host, conn, err := meet(ctx, nodeSocket(key, n))
		if err == nil || ctx.Err() != nil {
			return host, conn, err
		}
		failures = append(failures, err)
	}
	return nil, nil, fmt.Errorf("meet the other slots of this node: %w", errors.Join(failures...))
}

// meet is JoinNode at one place.
func meet(ctx context.Context, addr *net.UnixAddr) (*NodeHost, *net.UnixConn, error) {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		l, err := net.ListenUnix(addr.Net, addr)
		if err == nil {
			return &NodeHost{l}, nil, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, err
		}
		conn, err := net.DialUnix(addr.Net, nil, addr)
		if err == nil {
			if err = ownPeer(conn); err == nil {
				return nil, conn, nil
			}
			conn.Close()
			return nil, nil, err
		}
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > deafPatience { // else bound, and not listening yet
			return nil, nil, err
		}
		alarm := time.NewTimer(pause)
		select {
		case <-alarm.C:
		case <-ctx.Done():
			alarm.Stop()
			return nil, nil, context.Cause(ctx)
		}
	}
}

// ownPeer makes sure that the process at the other end is ours.
func ownPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	failed := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the meeting place of this node's slots is held by another user (uid %d)", cred.Uid)
	}
	return nil
}

// send gives a packet, with the descriptors of files.
func send(conn *net.UnixConn, s slip, fds ...int) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err = conn.WriteMsgUnix(b, oob, nil)
	if errors.Is(err, syscall.EMSGSIZE) || len(b) > maxSlip {
		return fmt.Errorf("arguments and environment are too long to be handed on (%d bytes)", len(b))
	}
	return err
}

// receive takes a packet. The files are the receiver's.
func receive(conn *net.UnixConn, buffer []byte) (slip, []*os.File, error) {
	var s slip
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, flags, _, err := conn.ReadMsgUnix(buffer, oob)
	if err != nil {
		return s, nil, err
	}
	files, err := filesOf(oob[:oobn])
	switch {
	case err != nil:
	case n == 0:
		err = net.ErrClosed
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("a packet is too long")
	default:
		err = json.Unmarshal(buffer[:n], &s)
	}
	if err == nil && len(files) != len(s.Streams) {
		err = fmt.Errorf("%d descriptors came for %q", len(files), s.Streams)
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return slip{}, nil, err
	}
	return s, files, nil
}

// filesOf takes the descriptors out of a control message. They do not block, as
// their sender has made them so.
func filesOf(oob []byte) ([]*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "stream of a rank"))
		}
	}
	return files, nil
}
