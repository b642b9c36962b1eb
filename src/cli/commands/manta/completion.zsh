#compdef manta
# Completion of manta for zsh. Enable it after compinit with: eval "$(manta completion zsh)"
_manta() {
  local -a lines candidates
  local line
  lines=("${(@f)$("${words[1]}" __complete zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    case $line in
      :file) _files ;;
      :directory) _files -/ ;;
      :none|'') ;;
      *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#candidates )) && _describe -t commands manta candidates
}
if [[ ${funcstack[1]} == _manta ]]; then _manta "$@"; else compdef _manta manta; fi
