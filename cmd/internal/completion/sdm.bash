# Completion of sdm for bash, from "sdm completion bash".

_sdm() {
    local kind='' line option=-f
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
    done < <("${1/#\~\//$HOME/}" __complete bash "$COMP_LINE" "$COMP_POINT" "$COMP_CWORD" "$COMP_WORDBREAKS" "${COMP_WORDS[@]}" 2>/dev/null)
    case $kind in
    open) compopt -o nospace ;;
    files | directories)
        [[ $kind == files ]] || option=-d
        compopt -o filenames
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$option" -- "$2")
        ;;
    program\ *)
        if declare -F _comp_command_offset >/dev/null; then
            _comp_command_offset "${kind#* }"
        elif declare -F _command_offset >/dev/null; then
            _command_offset "${kind#* }"
        else
            option=-f
            ((COMP_CWORD > ${kind#* })) || option=-c
            compopt -o filenames
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$option" -- "$2")
        fi
        ;;
    esac
}

complete -F _sdm sdm
