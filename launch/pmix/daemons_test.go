package pmix

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// TestWithInput has input of all bytes.
func TestWithInput(t *testing.T) {
	input := make([]byte, 256)
	for i := range input {
		input[i] = byte(i)
	}
	argv, env := withInput([]string{"sh", "-c", `cat; printf "%s" "$` + inputVar + `$0"`, "$HOME"}, input)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	got, err := cmd.Output()
	if want := append(input, "$HOME"...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
