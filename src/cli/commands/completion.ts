import type { Run } from '../command.ts';

export const run: Run = async ({ args }, io) => {
  io.out(scripts[args[0] as keyof typeof scripts]);
  return 0;
};

/** Each asks `manta __complete` for what may come next. */
const scripts = {
  bash: `# Completion of manta for bash. Switch on with: eval "$(manta completion bash)"
_manta() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  [[ $current == = ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current") ;;
      :directory) compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current") ;;
      :none) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _manta manta
`,
  zsh: `#compdef manta
# Completion of manta for zsh. Switch on after compinit with: eval "$(manta completion zsh)"
_manta() {
  local -a lines candidates
  local line
  lines=("\${(@f)$("\${words[1]}" __complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    case $line in
      :file) _files ;;
      :directory) _files -/ ;;
      :none|'') ;;
      *) candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#candidates )) && _describe -t commands manta candidates
}
if [[ \${funcstack[1]} == _manta ]]; then _manta "$@"; else compdef _manta manta; fi
`,
  fish: `# Completion of manta for fish. Switch on with: manta completion fish > ~/.config/fish/completions/manta.fish
function __manta_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete fish -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':file'
                __fish_complete_path "$current"
            case ':directory'
                __fish_complete_directories "$current"
            case ':none'
            case '*'
                echo $line
        end
    end
end
complete -c manta -f -a '(__manta_complete)'
`,
};
