// The sessions of this user are found.

package sessions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Found is a session that is on file.
type Found struct {
	State    State
	Liveness Liveness
}

// Trouble is a file, or the directory, that is passed over.
type Trouble struct {
	Path string // "": there is no home directory
	Err  error
}

func (t Trouble) Error() string {
	if t.Path == "" {
		return "the sessions are not read: " + t.Err.Error()
	}
	return t.Path + ": " + t.Err.Error()
}

// Ages after which files are removed whose sessions are not known to have ended.
const (
	maxAge   = 30 * 24 * time.Hour // of a session elsewhere, or of what cannot be read, since its last change
	maxEmpty = time.Hour           // of a number that was taken, and of a file that was begun: its process was killed
)

// List returns the sessions of this user, by their numbers, and what was passed over. A session that has ended is
// returned once, as Gone: its file is removed, if it was of this host or has not been changed for 30 days. If the file
// system does not answer before ctx ends, that is the only trouble; a goroutine then remains until it does.
func List(ctx context.Context) ([]Found, []Trouble) { return ofThisUser().within(ctx, registry.list) }

// Look is List, but leaves the files as they are: who is told of an ended session is told by List, too.
func Look(ctx context.Context) ([]Found, []Trouble) {
	return ofThisUser().within(ctx, func(r registry) ([]Found, []Trouble) {
		found, _, troubles := r.look()
		return found, troubles
	})
}

// within calls list, but waits for it only until ctx ends.
func (r registry) within(ctx context.Context, list func(registry) ([]Found, []Trouble)) ([]Found, []Trouble) {
	type listed struct {
		found    []Found
		troubles []Trouble
	}
	done := make(chan listed, 1)
	go func() {
		found, troubles := list(r)
		done <- listed{found, troubles}
	}()
	select {
	case l := <-done:
		return l.found, l.troubles
	case <-ctx.Done():
		return nil, []Trouble{{r.path, fmt.Errorf("the sessions are not read: %w", context.Cause(ctx))}}
	}
}

// list is look, and removes what is old.
func (r registry) list() (found []Found, troubles []Trouble) {
	found, old, troubles := r.look()
	if err := r.tidy(old); err != nil {
		troubles = append(troubles, Trouble{r.path, fmt.Errorf("files of sessions that have ended stay: %w", plain(err))})
	}
	return found, troubles
}

// look returns the sessions on file, those files, by their names, that say nothing any more, and what was passed over.
func (r registry) look() (found []Found, old map[string]content, troubles []Trouble) {
	d, err := r.open(false)
	switch {
	case errors.Is(err, os.ErrNotExist): // nobody has had a session
		return nil, nil, nil
	case err != nil:
		return nil, nil, []Trouble{{r.path, plain(err)}}
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return nil, nil, []Trouble{{r.path, plain(err)}}
	}
	if len(names) == maxNames {
		tooMany := fmt.Errorf("it has more than %d files: the others are not read", maxNames-1)
		troubles = append(troubles, Trouble{r.path, tooMany})
	}
	old = map[string]content{}
	for _, name := range names {
		begun := strings.HasPrefix(name, temporary)
		if !begun && !isSessionFile(name) {
			continue
		}
		c, err := d.read(name)
		if errors.Is(err, os.ErrNotExist) { // it ends just now
			continue
		}
		liveness, remove := r.judge(c, err)
		if begun {
			liveness, remove, err = "", c.ours && r.now().Sub(c.changed) > maxEmpty, nil
		}
		if remove {
			old[name] = c
		}
		switch {
		case err != nil:
			troubles = append(troubles, Trouble{filepath.Join(r.path, name), plain(err)})
		case liveness != "":
			found = append(found, Found{c.state, liveness})
		}
	}
	slices.SortFunc(found, func(a, b Found) int { return number(a.State.ID) - number(b.State.ID) })
	return found, old, troubles
}

// judge returns what a file says of its session, "" if nothing, and whether the file is to be removed. wrong is the
// error with which it was read.
func (r registry) judge(c content, wrong error) (liveness Liveness, remove bool) {
	age := r.now().Sub(c.changed)
	switch {
	case !c.ours:
		return "", false
	case wrong != nil:
		return "", age > maxAge
	case len(c.bytes) == 0:
		return "", age > maxEmpty
	}
	liveness = c.state.livenessAt(r.at, r.start)
	if liveness == Elsewhere && age > maxAge {
		liveness = Gone
	}
	return liveness, liveness == Gone
}

// tidy removes old files that are still as they were read. If another sdm does that already, nothing is done.
func (r registry) tidy(old map[string]content) error {
	if len(old) == 0 {
		return nil
	}
	d, err := r.open(false)
	if err != nil {
		return err
	}
	defer d.close()
	unlock, err := d.lock()
	if err == errBusy {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	var failed error
	for name, before := range old {
		now, err := d.read(name)
		if errors.Is(err, os.ErrNotExist) || !now.changed.Equal(before.changed) || !bytes.Equal(now.bytes, before.bytes) {
			continue
		}
		failed = cmp.Or(failed, d.remove(name))
	}
	return failed
}

// NoChoice is the error that a session is not named, or that there is none of that name.
type NoChoice struct {
	ID       string    // as it was given
	Ended    bool      // it has just ended
	Sessions []Found   // those that can be named: live ones, and those elsewhere
	Troubles []Trouble // what was passed over
}

// Error has a line for each session that can be named, and for each file that was passed over.
func (e *NoChoice) Error() string {
	var text string
	switch {
	case e.Ended:
		text = "session " + e.ID + " has ended"
	case e.ID != "":
		text = fmt.Sprintf("there is no session %q", e.ID)
	case len(e.Sessions) > 1:
		text = "no session is named"
	default:
		text = "there is no session"
	}
	switch n := len(e.Sessions); n {
	case 0:
		text += " (sdm run and sdm attach begin one)"
	case 1:
		text += "; there is:"
	default:
		text += fmt.Sprintf("; there are %d:", n)
	}
	for _, f := range e.Sessions {
		text += "\n  " + f.line()
	}
	for _, t := range e.Troubles {
		text += "\n  passed over: " + oneLine(t.Error())
	}
	return text
}

// line describes a session for a choice.
func (f Found) line() string {
	s := f.State
	words := []string{s.ID, "on " + s.Host}
	if s.Program != "" {
		words = append(words, s.Program)
	}
	if s.Job != "" {
		words = append(words, "job "+s.Job)
	}
	return oneLine(strings.Join(words, ", ") + ", since " + s.Began.Local().Format("2006-01-02 15:04"))
}

// oneLine shows newlines as ^J. Whoever shows an error takes out other control characters line by line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "^J") }

// Find returns the session with an ID. "" is the only one that is live here, or else the only one elsewhere. Otherwise
// the error is a NoChoice.
func Find(ctx context.Context, id string) (Found, error) {
	found, troubles := List(ctx)
	return choose(found, troubles, id)
}

func choose(found []Found, troubles []Trouble, id string) (Found, error) {
	none := &NoChoice{ID: id, Troubles: troubles}
	var live []Found
	for _, f := range found {
		named := f.State.ID == id
		switch {
		case f.Liveness == Gone:
			none.Ended = none.Ended || named
			continue
		case named:
			return f, nil
		case f.Liveness == Live:
			live = append(live, f)
		}
		none.Sessions = append(none.Sessions, f)
	}
	switch {
	case id == "" && len(live) == 1:
		return live[0], nil
	case id == "" && len(live) == 0 && len(none.Sessions) == 1:
		return none.Sessions[0], nil
	}
	return Found{}, none
}
