# Completion of sdm for fish, from "sdm completion fish".

function __sdm_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l last (commandline --current-token --cut-at-cursor)
    set -l lines ($words[1] __complete fish $words[2..] "$last" 2>/dev/null)
    set -l kind (string split ' ' -- $lines[1])
    set -e lines[1]
    if set -q lines[1]
        printf '%s\n' $lines
    end
    switch "$kind[1]"
        case files
            __fish_complete_path "$last"
        case directories
            __fish_complete_directories "$last"
        case program
            __fish_complete_subcommand --fcs-skip=$kind[2]
    end
end

complete --command sdm --no-files --arguments '(__sdm_complete)'
