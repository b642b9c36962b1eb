# Completion of manta for fish. Enable it with: manta completion fish > ~/.config/fish/completions/manta.fish
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
