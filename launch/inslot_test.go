package launch

import (
	"slices"
	"testing"
)

func TestInSlot(t *testing.T) {
	server := []string{"A=1", "OMPI_COMMAND=sdm-server", "OMPI_ARGV=--rendezvous HOST:1 -- ./app 7 x", "B=2"}
	for _, test := range []struct {
		name      string
		env, want []string
		args      []string
	}{
		{"with arguments", server, []string{"A=1", "B=2", "OMPI_ARGV=7 x", "OMPI_COMMAND=app"}, []string{"7", "x"}},
		{"without", server, []string{"A=1", "B=2", "OMPI_COMMAND=app"}, nil},
		{"not of Open MPI", []string{"A=1"}, []string{"A=1"}, []string{"7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := slices.Clone(test.env)
			got := slices.Sorted(slices.Values(InSlot(test.env, "./app", test.args)))
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !slices.Equal(test.env, before) {
				t.Error("the environment that was given has changed")
			}
		})
	}
}
