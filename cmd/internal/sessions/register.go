// A session puts itself on file.

package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
)

// registry is the session files of a user, as seen from a process.
type registry struct {
	path  string
	uid   int
	at    place
	wrong error                // why there is no path or place; nil: there is
	start func(pid int) uint64 // see startOf
	now   func() time.Time     // the time; files of other hosts are compared with it
}

// ofThisUser returns the session files of the user of this process.
func ofThisUser() registry {
	path, err1 := userFolder()
	at, err2 := here()
	return registry{path: path, uid: os.Geteuid(), at: at, wrong: errors.Join(err1, err2), start: startOf, now: time.Now}
}

// open opens the directory of the files; see openFolder.
func (r registry) open(create bool) (*folder, error) {
	if r.wrong != nil {
		return nil, r.wrong
	}
	return openFolder(r.path, r.uid, create)
}

// Unlisted is the error that a session is on no file, because the disk is full, there is no home directory or the
// like. The session can go on: whoever is told State.Socket can join it.
type Unlisted struct {
	Path string // of the directory; "": there is no home directory
	Err  error
}

func (e *Unlisted) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("the session is in no list: %v", e.Err)
	}
	return fmt.Sprintf("the session is in no list: its file in %s cannot be written: %v", e.Path, e.Err)
}
func (e *Unlisted) Unwrap() error { return e.Err }

// Entry is the session of this process on file. Its methods are safe for concurrent use.
type Entry struct {
	r  registry
	mu sync.Mutex
	s  State
}

// Register puts the session of this process on file. It gives the session its ID, the smallest number that is free
// among the sessions of the user on all hosts, and its socket, and fills in what identifies the process. Call it in
// the process that holds the session, and listen at State.Addr. The entry is valid also if the error is an Unlisted,
// which is the only one: then State.ID is empty, and Update tries again.
func Register(s State) (*Entry, error) { return ofThisUser().register(s) }

func (r registry) register(s State) (*Entry, error) {
	s.Version, s.ID, s.Socket = version, "", ""
	s.Host, s.Boot, s.Space = r.at.host, r.at.boot, r.at.space
	s.PID = os.Getpid()
	s.Start = r.start(s.PID)
	if s.Began.IsZero() {
		s.Began = r.now()
	}
	s.Began = s.Began.UTC().Round(0)
	e := &Entry{r: r, s: s.fitting()}
	r.list() // removes the files of sessions that have ended, whose numbers become free; what is wrong is told by List
	return e, e.write()
}

// fitting returns the state with its texts clipped.
func (s State) fitting() State {
	s.Program, s.Ranks, s.Job = clip(s.Program), clip(s.Ranks), clip(s.Job)
	return s
}

// State returns the state as it is now.
func (e *Entry) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.s
}

// Update changes the state and writes it. What identifies the session cannot be changed. An error is an Unlisted; the
// change holds nevertheless, and comes into the file with the next Update.
func (e *Entry) Update(change func(*State)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.s
	change(&s)
	e.s.Kind, e.s.Program, e.s.Ranks, e.s.Job, e.s.Keep = s.Kind, s.Program, s.Ranks, s.Job, s.Keep
	e.s = e.s.fitting()
	return e.write()
}

// Remove removes the file. A file that is another session's by now is left alone.
func (e *Entry) Remove() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.s.ID == "" {
		return nil
	}
	d, err := e.r.open(false)
	if err != nil {
		return plain(err)
	}
	defer d.close()
	if owned, err := e.owns(d); err != nil || !owned {
		return plain(err)
	}
	return d.remove(e.s.ID + fileSuffix)
}

// write writes the file, for which it first finds a number if the session has none. The lock must be held.
func (e *Entry) write() error {
	err := e.tryWrite()
	if err == nil {
		return nil
	}
	if e.s.Socket == "" {
		e.s.Socket = socketPrefix(e.r.uid) + strconv.Itoa(e.s.PID) + "-" + token()
	}
	return &Unlisted{e.r.path, plain(err)}
}

func (e *Entry) tryWrite() error {
	d, err := e.r.open(true)
	if err != nil {
		return err
	}
	defer d.close()
	if e.s.ID != "" {
		owned, err := e.owns(d)
		if err == nil && !owned { // somebody has removed it
			err = d.claim(e.s.ID + fileSuffix)
		}
		if err != nil {
			return err
		}
		return d.write(e.s.ID+fileSuffix, e.s.print())
	}
	return e.takeNumber(d)
}

// takeNumber writes the first file of a session. If it fails, the session has no number as before.
func (e *Entry) takeNumber(d *folder) error {
	before := e.s
	n, err := d.smallestFree()
	if err != nil {
		return err
	}
	e.s.ID = id(n)
	if e.s.Socket == "" {
		e.s.Socket = socketPrefix(e.r.uid) + e.s.ID + "-" + token()
	}
	if err = e.s.check(e.r.uid); err == nil { // otherwise nobody could read it
		err = d.write(e.s.ID+fileSuffix, e.s.print())
	}
	if err != nil {
		d.remove(e.s.ID + fileSuffix) // the first error says more
		e.s = before
	}
	return err
}

// smallestFree returns the smallest number that no file has, and makes an empty file with it. Of several that look for
// one at the same time, also on several hosts, each gets another.
func (d *folder) smallestFree() (int, error) {
	names, err := d.names()
	if err != nil {
		return 0, err
	}
	used := map[string]bool{}
	for _, name := range names {
		used[name] = true
	}
	for n := 1; n <= maxNumber; n++ {
		name := id(n) + fileSuffix
		if used[name] {
			continue
		}
		if err := d.claim(name); !errors.Is(err, os.ErrExist) {
			return n, err
		}
	}
	return 0, fmt.Errorf("%s has files of %d sessions", d.path, maxNumber)
}

// owns reports whether the file is still that of this session; false: there is none. It is an error if it is another
// session's.
func (e *Entry) owns(d *folder) (bool, error) {
	switch c, err := d.read(e.s.ID + fileSuffix); {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case c.state.Socket != e.s.Socket:
		return false, fmt.Errorf("%s is another session now", e.s.ID)
	}
	return true, nil
}

// plain leaves out the operation and the name of a temporary file.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
