/** What the engine keeps of attempts under way, below the folder that it is given. */
export const rayAttempts = 'ray-attempts';
