/* The library bcryptprimitives.dll, which Windows has and Wine 8 lacks: Rust's standard library takes random bytes from it.
   packaging/windows compiles it, and uses it only where Wine has none. */

#include <windows.h>

/* RtlGenRandom, which advapi32 exports under this name. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    while (length > 0) {
        ULONG part = length > 0x10000000 ? 0x10000000 : (ULONG)length;
        if (!SystemFunction036(buffer, part))
            return FALSE;
        buffer += part;
        length -= part;
    }
    return TRUE;
}
