#compdef sdm
# Completion of sdm for zsh, from "sdm completion zsh".

_sdm() {
    local -a lines
    local kind
    lines=("${(@f)$(${(Q)words[1]/#\~\//$HOME/} __complete zsh "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    kind=$lines[1]
    shift lines
    [[ $kind != (files|directories) || $PREFIX != --*=* ]] || compset -P '*='
    case $kind in
    values) _describe -t values value lines ;;
    open) _describe -t values value lines -S '' ;;
    files) _alternative 'values:value:{ _describe value lines }' 'files:file:_files' ;;
    directories) _files -/ ;;
    program\ *)
        shift ${kind#* } words
        ((CURRENT -= ${kind#* }))
        _normal
        ;;
    esac
}

if [[ $funcstack[1] == _sdm ]]; then
    _sdm "$@"
else
    compdef _sdm sdm
fi
