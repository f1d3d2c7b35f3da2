package mpir

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	KeeperMain(os.Args)
	if starter := os.Getenv(killedVar); starter != "" {
		launchAndWait(starter)
	}
	os.Exit(m.Run())
}
