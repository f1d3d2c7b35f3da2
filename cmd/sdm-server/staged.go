package main

import (
	"os"
	"syscall"

	"sdm/launch/stage"
)

// runStaged becomes the copy of this program in node-local storage (--stage). It
// comes back only when that cannot be had: the shared one does as well.
func (o *options) runStaged(args, env []string) {
	if o.stage == "" || o.staged != "" {
		return
	}
	self, err := os.Executable()
	if err == nil {
		var path string
		if path, err = stage.Put(self, o.stage, o.session, o.stageHash); err == nil {
			// Descriptors that our starter meant for the rank stay open.
			err = syscall.Exec(path, append([]string{args[0], "--staged", path}, args[1:]...), env)
			stage.Remove(path)
		}
	}
	complain(&notStaged{o.stage, err}, 0)
}

// notStaged says that a directory is no good.
type notStaged struct {
	dir string
	err error
}

func (n *notStaged) Error() string {
	return "--stage " + n.dir + ": " + n.err.Error() + "; the shared program is used"
}

// unstage takes the copy away as soon as nobody of this node will start it any
// more: what runs keeps it, and a process that is killed leaves nothing.
func (o *options) unstage() {
	if o.staged != "" {
		stage.Remove(o.staged)
	}
}
