// Slots of one node meet at a socket; packets between them.

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

// A starter starts one sdm-server in the slot of each rank. One server for each node is enough: the
// process that binds the socket first is the server of its node. The others are stand-ins: they hold
// their rank when they are told to, pass its streams and its process id to the server, report how it
// ended, and keep the slot until the session is over.
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
//	  | ending: text                 |  if the starter ends the job
//	  |----------------------------->|
//	  | quit                         |  the end of the session
//	  |<-----------------------------|
//
// They meet at a socket with an abstract name (unix(7)), which is not a file and so need not be
// removed. The kernel tells the user of the peer (SO_PEERCRED). The name is derived from the secret
// of the session, so that other users cannot bind it beforehand; if one has, all slots use the next
// name. The name contains the namespaces of the process: a process in another namespace could not
// be debugged by its process id, or would have other files, so it becomes a server of its own.

// message is a packet between a stand-in and its server.
type message struct {
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
	TTY     bool                    `json:"tty,omitempty"`
	Streams string                  `json:"streams,omitempty"` // descriptors sent: of "ioe", or "toe" where standard input is a terminal
	Fault   *protocol.Fault         `json:"fault,omitempty"`
	Exit    *protocol.Exit          `json:"exit,omitempty"`
	Status  int                     `json:"status,omitempty"` // as a shell gives it
	Text    string                  `json:"text,omitempty"`
}

// maxMessage bounds a packet, in bytes. By default the kernel refuses smaller ones already: a packet
// must fit into the send buffer of the socket (socket(7), wmem_default).
const maxMessage = 256 << 10

// helloTime is how long a new connection may take to send its hello.
const helloTime = 10 * time.Second

// maxNames is how many names are tried. listenTimeout is how long a name may be bound by a socket
// that does not listen yet: the server of the node listens at once.
const (
	maxNames      = 16
	listenTimeout = 2 * time.Second
)

// nodeSocket returns the n-th address at which the slots of a session can meet on this node.
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

// JoinNode makes this process the host of the session's slots on this node if there is none yet;
// otherwise it returns the connection to the host. key is the key of the session. A name that
// another user holds is skipped.
func JoinNode(ctx context.Context, key [32]byte) (*NodeHost, *net.UnixConn, error) {
	var failures []error
	for n := range maxNames {
		host, conn, err := meet(ctx, nodeSocket(key, n))
		if err == nil || ctx.Err() != nil {
			return host, conn, err
		}
		failures = append(failures, err)
	}
	return nil, nil, fmt.Errorf("meet the other slots of this node: %w", errors.Join(failures...))
}

// FindNode returns the connection to the host of the session's slots on this node, which another
// slot becomes with JoinNode. It tries again until ctx is done.
func FindNode(ctx context.Context, key [32]byte) (*net.UnixConn, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var failures []error
		for n := range maxNames {
			conn, err := dialNode(nodeSocket(key, n))
			if err == nil {
				return conn, nil
			}
			failures = append(failures, err)
		}
		alarm := time.NewTimer(pause)
		select {
		case <-alarm.C:
		case <-ctx.Done():
			alarm.Stop()
			return nil, fmt.Errorf("meet the first slot of this node: %w", failures[0])
		}
	}
}

// dialNode connects to a host at one address.
func dialNode(addr *net.UnixAddr) (*net.UnixConn, error) {
	conn, err := net.DialUnix(addr.Net, nil, addr)
	if err != nil {
		return nil, err
	}
	if err := ownPeer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// meet is JoinNode for one address.
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
		conn, err := dialNode(addr)
		if err == nil {
			return nil, conn, nil
		}
		// ECONNREFUSED: it is bound, and does not listen yet
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > listenTimeout {
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

// ownPeer returns an error unless the peer is a process of this user.
func ownPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	failed := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET,
			unix.SO_PEERCRED)
	})
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if int(cred.Uid) != os.Getuid() {
		return fmt.Errorf("the meeting place of this node's slots is held by another user (uid %d)", cred.Uid)
	}
	return nil
}

// send sends a packet with descriptors.
func send(conn *net.UnixConn, m message, fds ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tooLong := fmt.Errorf("arguments and environment are too long to be handed on (%d bytes)", len(b))
	if len(b) > maxMessage {
		return tooLong
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, err = conn.WriteMsgUnix(b, oob, nil)
	if errors.Is(err, syscall.EMSGSIZE) {
		return tooLong
	}
	return err
}

// receive receives a packet. The caller owns the files.
func receive(conn *net.UnixConn, buffer []byte) (message, []*os.File, error) {
	var m message
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, flags, _, err := conn.ReadMsgUnix(buffer, oob)
	if err != nil {
		return m, nil, err
	}
	files, err := filesOf(oob[:oobn])
	switch {
	case err != nil:
	case n == 0:
		err = net.ErrClosed
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("a packet is too long")
	default:
		err = json.Unmarshal(buffer[:n], &m)
	}
	if err == nil && len(files) != len(m.Streams) {
		err = fmt.Errorf("%d descriptors came for %q", len(files), m.Streams)
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return message{}, nil, err
	}
	return m, files, nil
}

// filesOf returns the descriptors of a control message as files. They are non-blocking, because
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
