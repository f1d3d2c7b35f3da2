package local

import (
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// roleEnv is the variable that selects the role of the test binary.
const roleEnv = "LOCAL_TEST_ROLE"

func TestMain(m *testing.M) {
	ShimMain(os.Args)
	if role, ok := roles[os.Getenv(roleEnv)]; ok {
		role()
		os.Exit(0)
	}
	if _, err := Inherited(); err != nil { // descriptors that the test's own starter left open
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var roles = map[string]func(){
	"linked":    playLinked,
	"listening": playListening,
	"dying":     func() { fmt.Fprint(os.Stderr, "the disk is on fire\n"); os.Exit(3) },
	"stubborn":  func() { fmt.Println("ready"); <-make(chan int) },
	"leaving":   playLeaving,
	"holder":    playHolder,
	"inherited": playInherited,
}

// playLinked writes its arguments over the link and ends with it.
func playLinked() {
	fmt.Fprintln(os.NewFile(4, "up"), os.Args[1:], os.Getpid())
	io.Copy(io.Discard, os.NewFile(3, "down"))
}

// playLeaving ends its stderr with LetGo and runs until it is killed.
func playLeaving() {
	io.Copy(io.Discard, os.NewFile(3, "link"))
	fmt.Fprint(os.Stderr, LetGo)
	os.Stderr.Close()
	select {}
}

// playListening sends the key to the first connection and ends with the pipe.
func playListening() {
	pipe := os.NewFile(4, "secret")
	key := make([]byte, 32)
	io.ReadFull(pipe, key)
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		panic(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	conn.Write(key)
	io.Copy(io.Discard, pipe)
}

// playHolder holds a rank by each method, prints their process ids, and waits to be killed.
func playHolder() {
	for _, shim := range []bool{false, true} {
		f := NewForker()
		f.viaShim = shim
		p, err := f.Hold(Spec{Program: "/bin/sleep", Args: []string{"1000"}})
		if err != nil {
			panic(err)
		}
		fmt.Println(p.PID)
	}
	select {}
}

// playInherited prints what Inherited finds, what it finds the second time, whether programs get a descriptor beyond
// the bound, and what is found, and how a rank starts, where the limit of open files has been lowered below another.
func playInherited() {
	high, err := unix.FcntlInt(3, unix.F_DUPFD, maxInherited+1)
	if err != nil {
		panic(err)
	}
	found, err := Inherited(4)
	again, _ := Inherited(4)
	flags, _ := unix.FcntlInt(uintptr(high), unix.F_GETFD, 0)
	fmt.Println(found, again, flags&unix.FD_CLOEXEC != 0, err)
	if _, err := unix.FcntlInt(3, unix.F_DUPFD, 200); err != nil {
		panic(err)
	}
	unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 128, Max: 128})
	found, _ = Inherited()
	f := NewForker(found...)
	defer f.Close()
	_, err = f.Hold(Spec{Program: "/bin/true"})
	fmt.Println(found, err)
}
